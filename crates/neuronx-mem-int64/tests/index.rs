//! Indices around 2³¹, around 2³² and below zero: the classical wrong results, and how the check
//! finds them.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_int64::{
    Arithmetic, Axis, Int64Error, Int64Mode, Int64Policy, Negative, Operand, PackedLayout, Reference,
    TensorLayout, as_words, route,
};

const TWO_31: i64 = 1 << 31;
const TWO_32: i64 = 1 << 32;

/// Ways to compute, by the mode that has them; the table decides for `aten.embedding`.
fn embedding(mode: Int64Mode, check: bool) -> Reference {
    let route = route("aten.embedding", Int64Policy::new(mode, check));
    Reference::of_route("aten.embedding", &route)
}

fn out_of_range(position: usize, value: i64, n_rows: usize) -> Int64Error {
    Int64Error::IndexOutOfRange { operator: "aten.embedding".to_owned(), position, value, n_rows }
}

const WEIGHTS: [f32; 6] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5];

#[test]
fn an_index_beyond_32_bits_reads_another_row_where_only_low_words_count() {
    let index = [2, TWO_32 + 1, -TWO_32];
    for mode in Int64Mode::ALL {
        let read = embedding(mode, false).read_rows(&WEIGHTS, 2, &index);
        match mode {
            Int64Mode::Packed | Int64Mode::CpuBounce => {
                assert_eq!(read, Ok(vec![2.0, 2.5, 1.0, 1.5, 0.0, 0.5]), "{mode}");
            }
            _ => assert_eq!(read, Err(out_of_range(1, TWO_32 + 1, 3)), "{mode}"),
        }
    }
}

#[test]
fn the_check_stops_a_wrong_row_and_nothing_else() {
    let error = embedding(Int64Mode::Packed, true).read_rows(&WEIGHTS, 2, &[2, TWO_32 + 1]).unwrap_err();
    let expected = Int64Error::Overflow {
        operator: "aten.embedding".to_owned(),
        operand: Operand::Input(1),
        index: 1,
        value: TWO_32 + 1,
        count: 1,
    };
    assert_eq!(error, expected);
    assert_eq!(
        embedding(Int64Mode::Packed, true).read_rows(&WEIGHTS, 2, &[2, 0]),
        Ok(vec![2.0, 2.5, 0.0, 0.5])
    );
    // Only the packed view has the check: the bounce stays silent.
    assert!(embedding(Int64Mode::CpuBounce, true).read_rows(&WEIGHTS, 2, &[TWO_32]).is_ok());
}

#[test]
fn two_to_the_31_becomes_negative() {
    for mode in [Int64Mode::Packed, Int64Mode::CpuBounce] {
        let read = embedding(mode, false).read_rows(&WEIGHTS, 2, &[TWO_31]);
        assert_eq!(read, Err(out_of_range(0, -TWO_31, 3)), "{mode}");
    }
    // A table so large that 2^31 is one of its rows: no memory is needed to number them.
    let n_rows = usize::try_from(TWO_32).unwrap();
    let rows = |mode| embedding(mode, false).rows(&[TWO_31 - 1, TWO_31], n_rows, Negative::OutOfRange);
    let (below, at) = (usize::try_from(TWO_31 - 1).unwrap(), usize::try_from(TWO_31).unwrap());
    assert_eq!(rows(Int64Mode::Native), Ok(vec![below, at]));
    assert_eq!(rows(Int64Mode::Packed), Err(out_of_range(1, -TWO_31, n_rows)));
    // Counted from the end, the wrong sign even passes: here it happens to be the same row, in a
    // table of another size it is not.
    let from_end = |n_rows| embedding(Int64Mode::Packed, false).rows(&[TWO_31], n_rows, Negative::FromEnd);
    assert_eq!(from_end(n_rows), Ok(vec![at]));
    assert_eq!(from_end(n_rows + 10), Ok(vec![at + 10]));
}

#[test]
fn negative_indices_keep_their_sign() {
    for mode in Int64Mode::ALL {
        let rows = |negative| embedding(mode, false).rows(&[-1, -3], 3, negative);
        assert_eq!(rows(Negative::FromEnd), Ok(vec![2, 0]), "{mode}");
        assert_eq!(rows(Negative::OutOfRange), Err(out_of_range(0, -1, 3)), "{mode}");
        let below = embedding(mode, false).rows(&[-4], 3, Negative::FromEnd);
        assert_eq!(below, Err(out_of_range(0, -4, 3)), "{mode}");
    }
    // The smallest value of both widths.
    assert_eq!(
        embedding(Int64Mode::Packed, true).rows(&[-TWO_31], 3, Negative::FromEnd),
        Err(out_of_range(0, -TWO_31, 3))
    );
    assert_eq!(
        embedding(Int64Mode::Native, true).rows(&[i64::MIN], 3, Negative::FromEnd),
        Err(out_of_range(0, i64::MIN, 3))
    );
    // In low words alone the smallest 64-bit value is row 0.
    assert_eq!(embedding(Int64Mode::Packed, false).rows(&[i64::MIN], 3, Negative::FromEnd), Ok(vec![0]));
}

/// aws-neuron-sdk issue 937: words taken for values read row 5, then 0, then 5, then 0.
#[test]
fn words_taken_for_indices_read_every_second_row_wrong() {
    let index = [5, 5];
    let words = as_words(&index);
    assert_eq!(words, [5, 0, 5, 0]);
    // The packed view tells values from words by the layout; its low words are the indices.
    let layout = PackedLayout::of(&TensorLayout::contiguous([2]).unwrap());
    let low = |at| words[layout.place(&[at], neuronx_mem_int64::Word::Low).unwrap()];
    assert_eq!([low(0), low(1)], [5, 5]);
    let weights: Vec<i32> = (0..10).collect();
    assert_eq!(embedding(Int64Mode::Packed, false).read_rows(&weights, 1, &index), Ok(vec![5, 5]));
}

/// pytorch issue 188467: a row that fits into 32 bits, times its length, does not.
#[test]
fn addresses_of_rows_are_made_in_64_bits() {
    let (row, row_len) = (3_000_000_usize, 1024_usize);
    let layout = TensorLayout::contiguous([4_000_000, row_len]).unwrap();
    assert_eq!(layout.place(&[row, 1]), Some(3_072_000_001));
    assert_eq!(
        PackedLayout::of(&layout).place(&[row, 1], neuronx_mem_int64::Word::High),
        Some(6_144_000_003)
    );
}

#[test]
fn gather_and_scatter_move_both_words_and_a_cast_does_not() {
    let big = TWO_32 + 7;
    let data = [big, 1, 2, 3];
    let axis = Axis::of(&[2, 2], 1).unwrap();
    let op = |arithmetic| Reference::new("op", arithmetic);
    let gather = |arithmetic| op(arithmetic).gather(&data, axis, &[0, 0, 1, 1]).unwrap();
    assert_eq!(gather(Arithmetic::Int64), [big, big, 3, 3]);
    assert_eq!(gather(Arithmetic::LowWord), [big, big, 3, 3]);
    assert_eq!(gather(Arithmetic::Int32Cast), [7, 7, 3, 3]);
    let scatter = |arithmetic| op(arithmetic).scatter(&data, axis, &[1, 0], &[big, -1]).unwrap();
    assert_eq!(scatter(Arithmetic::LowWord), [big, big, -1, 3]);
    assert_eq!(scatter(Arithmetic::Int32Cast), [7, 7, -1, 3]);
    // What is only moved is no error: the check concerns arithmetic and indices.
    assert_eq!(op(Arithmetic::LowWord).checked(true).gather(&data, axis, &[0, 1]), Ok(vec![big, 3]));
}

#[test]
fn gather_along_the_first_dimension() {
    let axis = Axis::of(&[3, 2], 0).unwrap();
    let op = Reference::new("op", Arithmetic::Int64);
    assert_eq!(op.gather(&[1, 2, 3, 4, 5, 6], axis, &[2, 0, 0, 1]), Ok(vec![5, 2, 1, 4]));
    let error = op.gather(&[1, 2, 3, 4, 5, 6], axis, &[2, 0, 0]).unwrap_err();
    assert_eq!(error.to_string(), "op: operand 1 has 3 elements where 2 are needed");
    assert_eq!(op.gather(&[], Axis { n_outer: 0, n: 3, n_inner: 2 }, &[]), Ok(vec![]));
}

#[test]
fn scatter_add_wraps_in_low_words_rounds_in_float32_and_is_found_by_the_check() {
    let axis = Axis::flat(2);
    let op = |arithmetic| Reference::new("aten.scatter_add", arithmetic);
    let add = |arithmetic, data: &[i64], source: &[i64]| {
        op(arithmetic).scatter_add(data, axis, &[1, 1], source).unwrap()
    };
    assert_eq!(add(Arithmetic::Int64, &[0, TWO_31 - 1], &[1, 1]), [0, TWO_31 + 1]);
    assert_eq!(add(Arithmetic::LowWord, &[0, TWO_31 - 1], &[1, 1]), [0, 1 - TWO_31]);
    assert_eq!(add(Arithmetic::Float32, &[0, 1 << 24], &[1, 1]), [0, 1 << 24]);
    let checked = op(Arithmetic::LowWord).checked(true);
    let error = checked.scatter_add(&[0, TWO_31 - 1], axis, &[1, 1], &[1, 1]).unwrap_err();
    assert!(
        error.to_string().starts_with("aten.scatter_add: result, element 1: 2147483649 is outside"),
        "{error}"
    );
    let error = checked.scatter_add(&[0, 0], axis, &[1, 1], &[1, TWO_32]).unwrap_err();
    assert!(
        error.to_string().starts_with("aten.scatter_add: operand 2, element 1: 4294967296 is"),
        "{error}"
    );
    let error = checked.scatter_add(&[0, 0], axis, &[1], &[1, 2]).unwrap_err();
    assert_eq!(error.to_string(), "aten.scatter_add: operand 2 has 2 elements where 1 are needed");
}

#[test]
fn rows_that_are_not_whole_are_refused() {
    let op = Reference::new("op", Arithmetic::Int64);
    let error = op.read_rows(&[1, 2, 3], 2, &[0]).unwrap_err();
    assert_eq!(error.to_string(), "op: operand 0 has 3 elements where 2 are needed");
    assert_eq!(op.read_rows::<u8>(&[], 0, &[]), Ok(vec![]));
    let error = op.read_rows::<u8>(&[], 0, &[0]).unwrap_err();
    assert_eq!(error.to_string(), "op: index 0 at element 0 is out of range for 0 rows");
}
