//! tests/streams/test_record_stream.py: a block used by other streams than its own.

use neuronx_mem::AllocError;

use super::{MIB, device};

#[test]
fn test_record_stream_basic() {
    let (_, device) = device(256);
    let (own, other) = (device.default_stream(), device.new_stream().unwrap());
    let block = device.allocate(20 * MIB, &own).unwrap();
    let work = other.submit().unwrap();
    block.record_stream(&other).unwrap();
    drop(block);
    assert_eq!((device.memory_allocated(), other.pending()), (20 * MIB, (1, 20 * MIB)));
    other.complete(work).unwrap();
    assert_eq!((device.memory_allocated(), device.memory_stats().is_settled()), (0, true));
}

#[test]
fn test_record_stream_multiple_streams() {
    let (_, device) = device(256);
    let streams: Vec<_> = (0..3).map(|_| device.new_stream().unwrap()).collect();
    let block = device.allocate(20 * MIB, &device.default_stream()).unwrap();
    let work: Vec<_> = streams.iter().map(|stream| stream.submit().unwrap()).collect();
    streams.iter().for_each(|stream| block.record_stream(stream).unwrap());
    drop(block);
    for (n, stream) in [(0, 2), (1, 0), (2, 1)] {
        assert_eq!(device.memory_allocated(), 20 * MIB, "after {n}");
        streams[stream].complete(work[stream]).unwrap();
    }
    assert_eq!(device.memory_allocated(), 0);
}

/// In the source a tensor of the host; here a stream of another device is the wrong one.
#[test]
fn test_record_stream_wrong_device_error() {
    let ((_, device), (_, other)) = (device(256), device(256));
    let block = device.allocate(1000, &device.default_stream()).unwrap();
    let error = block.record_stream(&other.default_stream()).unwrap_err();
    assert!(matches!(error, AllocError::ForeignStream { .. }));
}

#[test]
fn test_record_stream_zero_size_tensor() {
    let (_, device) = device(256);
    let (own, other) = (device.default_stream(), device.new_stream().unwrap());
    let block = device.allocate(0, &own).unwrap();
    other.submit().unwrap();
    block.record_stream(&other).unwrap();
    drop(block);
    assert!(device.memory_stats().is_settled());
}

#[test]
fn test_record_stream_same_stream_multiple_times() {
    let (_, device) = device(256);
    let (own, other) = (device.default_stream(), device.new_stream().unwrap());
    let block = device.allocate(1000, &own).unwrap();
    let work = other.submit().unwrap();
    (0..10).for_each(|_| block.record_stream(&other).unwrap());
    drop(block);
    assert_eq!(other.pending().0, 1);
    other.complete(work).unwrap();
    assert_eq!(device.memory_allocated(), 0);
}

#[test]
fn test_record_stream_default_stream() {
    let (_, device) = device(256);
    let own = device.new_stream().unwrap();
    let block = device.allocate(1000, &own).unwrap();
    let work = device.default_stream().submit().unwrap();
    block.record_stream(&device.default_stream()).unwrap();
    // Its own stream adds nothing.
    block.record_stream(&own).unwrap();
    drop(block);
    assert_eq!((device.default_stream().pending().0, own.pending().0), (1, 0));
    device.default_stream().complete(work).unwrap();
    assert_eq!(device.memory_allocated(), 0);
}
