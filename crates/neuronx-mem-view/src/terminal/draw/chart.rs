//! Three filled curves in braille: told apart by the density of their dots. Knows numbers only.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Dots of a cell, across and up.
pub(super) const DOTS: (u16, u16) = (2, 4);

/// The braille bit of a dot, by row from the top and column.
const BITS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// What one column of dots shows; inner values are not more than outer ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) reserved: u64,
    pub(super) allocated: u64,
    pub(super) active: u64,
}

/// Dots of a column, from the bottom.
#[derive(Clone, Copy, Debug, Default)]
struct Heights {
    reserved: u64,
    allocated: u64,
    active: u64,
}

/// Draws columns, two a cell, with `most` at the top. Styles are those of active, allocated and
/// reserved bytes.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, columns: &[Column], most: u64, styles: [Style; 3]) {
    let n_up = u64::from(area.height) * u64::from(DOTS.1);
    let height = |value: u64| {
        let dots = (u128::from(value) * u128::from(n_up)).div_ceil(u128::from(most.max(1)));
        u64::try_from(dots).unwrap_or(n_up).min(n_up)
    };
    let heights: Vec<Heights> = columns
        .iter()
        .map(|it| Heights {
            reserved: height(it.reserved),
            allocated: height(it.allocated),
            active: height(it.active),
        })
        .collect();
    for (x, pair) in (area.x..area.right()).zip(heights.chunks(usize::from(DOTS.0))) {
        for y in area.y..area.bottom() {
            let lowest = u64::from(area.bottom() - 1 - y) * u64::from(DOTS.1);
            let mut bits = 0;
            for (down, bits_of_row) in BITS.iter().enumerate() {
                let up = lowest + 3 - down as u64;
                for (across, (height, bit)) in pair.iter().zip(bits_of_row).enumerate() {
                    bits |= if is_set(*height, up, across) { *bit } else { 0 };
                }
            }
            let Some(symbol) = char::from_u32(0x2800 + bits).filter(|_| bits != 0) else { continue };
            let reaches = |of: fn(&Heights) -> u64| pair.iter().any(|it| of(it) > lowest);
            let style = match () {
                () if reaches(|it| it.active) => styles[0],
                () if reaches(|it| it.allocated) => styles[1],
                () => styles[2],
            };
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_char(symbol).set_style(style);
            }
        }
    }
}

/// Active is solid, what is allocated beyond it a grid, what is reserved beyond that an outline over
/// single dots.
fn is_set(height: Heights, up: u64, across: usize) -> bool {
    if up < height.active {
        true
    } else if up < height.allocated {
        (up + across as u64).is_multiple_of(2)
    } else if up < height.reserved {
        up + 1 == height.reserved || (across == 0 && up % 4 == 1)
    } else {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(columns: &[Column], want: &[&str]) {
        let width = u16::try_from(columns.len() / 2).expect("small");
        let height = u16::try_from(want.len()).expect("small");
        let area = Rect { x: 0, y: 0, width, height };
        let mut buffer = Buffer::empty(area);
        draw(&mut buffer, area, columns, 8, [Style::new(); 3]);
        assert_eq!(buffer, Buffer::with_lines(want.to_vec()));
    }

    #[test]
    fn dots_stand_for_bytes() {
        let column = |reserved, allocated, active| Column { reserved, allocated, active };
        check(&[column(8, 8, 8); 2], &["⣿", "⣿"]);
        check(&[column(0, 0, 0); 2], &[" ", " "]);
        check(&[column(1, 1, 1), column(8, 8, 8)], &["⢸", "⣸"]);
        check(&[column(8, 0, 0); 2], &["⠍", "⠄"]);
    }
}
