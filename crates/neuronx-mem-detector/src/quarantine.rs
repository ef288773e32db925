//! Freed blocks that are kept back from reuse, oldest first. Knows keys and bytes only.

use std::collections::VecDeque;

/// A queue bounded by bytes.
#[derive(Clone, Debug)]
pub struct Quarantine<K> {
    blocks: VecDeque<(K, u64)>,
    bytes: u64,
    limit_bytes: u64,
}

impl<K> Quarantine<K> {
    /// An empty queue that keeps at most `limit_bytes`.
    #[must_use]
    pub fn new(limit_bytes: u64) -> Self {
        Self { blocks: VecDeque::new(), bytes: 0, limit_bytes }
    }

    /// Keeps a block back, and returns those that must leave for it, oldest first. A block larger than
    /// the limit leaves at once.
    pub fn push(&mut self, block: K, bytes: u64) -> Vec<K> {
        self.blocks.push_back((block, bytes));
        self.bytes += bytes;
        let mut leaving = Vec::new();
        while self.bytes > self.limit_bytes {
            let Some((oldest, bytes)) = self.blocks.pop_front() else { break };
            self.bytes -= bytes;
            leaving.push(oldest);
        }
        leaving
    }

    /// Lets all of them go, oldest first.
    pub fn flush(&mut self) -> Vec<K> {
        self.bytes = 0;
        self.blocks.drain(..).map(|(block, _)| block).collect()
    }

    /// Bytes kept back.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Quarantine;

    #[test]
    fn the_oldest_leaves_when_the_limit_is_passed() {
        let mut quarantine = Quarantine::new(100);
        assert_eq!(quarantine.push('a', 60), []);
        assert_eq!(quarantine.push('b', 40), []);
        assert_eq!((quarantine.push('c', 1), quarantine.bytes()), (vec!['a'], 41));
        assert_eq!((quarantine.push('d', 101), quarantine.bytes()), (vec!['b', 'c', 'd'], 0));
        assert_eq!(quarantine.push('e', 7), []);
        assert_eq!((quarantine.flush(), quarantine.bytes()), (vec!['e'], 0));
    }

    #[test]
    fn without_a_limit_nothing_is_kept() {
        assert_eq!(Quarantine::new(0).push("block", 64), ["block"]);
    }
}
