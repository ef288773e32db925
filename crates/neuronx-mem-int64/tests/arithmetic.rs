//! The reference arithmetic against PyTorch's own results, and by hand along dimensions.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_int64::{
    Arithmetic, Axis, BinaryOp, Int64Error, Operand, Order, Reduction, Reference, ScanOp, UnaryOp,
};

/// Made by PyTorch: see the first line of the file.
const TORCH: &str = include_str!("data/torch_arithmetic.txt");

/// 2³¹ and 2³².
const TWO_31: i64 = 1 << 31;
const TWO_32: i64 = 1 << 32;

fn numbers(text: &str) -> Vec<Option<i64>> {
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

/// `int64` is what 64-bit arithmetic must give, `int32` what low words and casts must give.
#[test]
fn every_operator_agrees_with_pytorch_in_both_widths() {
    let mut lines = TORCH.lines().filter(|line| !line.starts_with('#'));
    let values: Vec<i64> =
        numbers(lines.next().unwrap().strip_prefix("values").unwrap()).into_iter().flatten().collect();
    let mut n_results = 0;
    for line in lines {
        let mut words = line.splitn(3, ' ');
        let (name, dtype, results) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let widths: &[Arithmetic] = match dtype {
            "int64" => &[Arithmetic::Int64],
            _ => &[Arithmetic::LowWord, Arithmetic::Int32Cast],
        };
        let unary = UnaryOp::by_operator(name).filter(|op| op.name() == name);
        let binary = BinaryOp::by_operator(name).filter(|op| op.name() == name);
        let results = numbers(results);
        for &arithmetic in widths {
            let mut expected = results.iter();
            for &left in &values {
                if let Some(op) = unary {
                    let want = expected.next().unwrap().unwrap();
                    assert_eq!(op.apply(arithmetic, left), want, "{name} {arithmetic:?} {left}");
                    n_results += 1;
                    continue;
                }
                for &right in &values {
                    // A dash: PyTorch has no result, or none that it promises.
                    let Some(want) = expected.next().unwrap() else { continue };
                    let got = binary.unwrap().apply(arithmetic, left, right);
                    assert_eq!(got, Some(*want), "{name} {arithmetic:?} {left} {right}");
                    n_results += 1;
                }
            }
            assert_eq!(expected.next(), None, "{name}");
        }
    }
    // 25 operators on 23 × 23 pairs and 6 on 23 values, in three arithmetics, less the divisions.
    assert_eq!(n_results, 3 * (25 * 529 + 6 * 23) - DASHES);
}

/// Four divisions by one zero in 64 bits. Two values have a low word of zero; two more have the
/// smallest `int32` as their low word, whose quotient by either value with the low word -1 overflows.
const DASHES: usize = 4 * 23 + 2 * 4 * (2 * 23 + 2 * 2);

fn reference(arithmetic: Arithmetic) -> Reference {
    Reference::new("op", arithmetic)
}

#[test]
fn low_words_lose_what_is_above_them() {
    let add =
        |arithmetic| reference(arithmetic).binary(BinaryOp::Add, &[TWO_31 - 1, TWO_32 + 5], &[1]).unwrap();
    assert_eq!(add(Arithmetic::Int64), [TWO_31, TWO_32 + 6]);
    assert_eq!(add(Arithmetic::LowWord), [-TWO_31, 6]);
    assert_eq!(add(Arithmetic::Int32Cast), [-TWO_31, 6]);
    let eq = |arithmetic| reference(arithmetic).binary(BinaryOp::Eq, &[TWO_32 + 5, 5], &[5, 5]).unwrap();
    assert_eq!((eq(Arithmetic::Int64), eq(Arithmetic::LowWord)), (vec![0, 1], vec![1, 1]));
}

#[test]
fn sums_in_float32_are_exact_up_to_2_24_only() {
    let top = 1 << 24;
    let sum = |arithmetic| {
        let ones = [top, 1, 1, 1];
        reference(arithmetic).reduce(Reduction::Sum, &ones, Axis::flat(4)).unwrap()
    };
    assert_eq!((sum(Arithmetic::Int64), sum(Arithmetic::LowWord)), (vec![top + 3], vec![top + 3]));
    assert_eq!(sum(Arithmetic::Float32), [top]);
    // Beyond the range of int32 a float becomes its end.
    let double = reference(Arithmetic::Float32).binary(BinaryOp::Add, &[TWO_31 - 1], &[TWO_31 - 1]).unwrap();
    assert_eq!(double, [TWO_31 - 1]);
}

#[test]
fn sides_of_one_value_hold_for_all_and_others_must_fit() {
    let reference = reference(Arithmetic::Int64);
    assert_eq!(reference.binary(BinaryOp::Sub, &[10], &[1, 2, 3]), Ok(vec![9, 8, 7]));
    assert_eq!(reference.binary(BinaryOp::Sub, &[], &[1]), Ok(vec![]));
    let error = reference.binary(BinaryOp::Sub, &[1, 2], &[1, 2, 3]).unwrap_err();
    assert_eq!(error.to_string(), "op: operand 1 has 3 elements where 2 are needed");
    let error = reference.binary(BinaryOp::Remainder, &[1, 2], &[1, 0]).unwrap_err();
    assert_eq!(error.to_string(), "op: element 1: division by zero");
}

#[test]
fn reductions_go_along_one_dimension() {
    let values = [3, 1, 3, 0, TWO_32, -5];
    let axis = Axis::of(&[2, 3], 1).unwrap();
    let rows = |op, arithmetic| reference(arithmetic).reduce(op, &values, axis).unwrap();
    let in_64 = |op| rows(op, Arithmetic::Int64);
    let in_32 = |op| rows(op, Arithmetic::LowWord);
    assert_eq!(in_64(Reduction::Sum), [7, TWO_32 - 5]);
    assert_eq!(in_32(Reduction::Sum), [7, -5]);
    assert_eq!((in_64(Reduction::Prod), in_64(Reduction::Min)), (vec![9, 0], vec![1, -5]));
    assert_eq!((in_64(Reduction::Max), in_32(Reduction::Max)), (vec![3, TWO_32], vec![3, 0]));
    assert_eq!((in_64(Reduction::ArgMax), in_32(Reduction::ArgMax)), (vec![0, 1], vec![0, 0]));
    assert_eq!((in_64(Reduction::ArgMin), in_64(Reduction::All)), (vec![1, 2], vec![1, 0]));
    assert_eq!((in_64(Reduction::CountNonzero), in_32(Reduction::CountNonzero)), (vec![3, 2], vec![3, 1]));
    let columns = Axis::of(&[2, 3], 0).unwrap();
    assert_eq!(reference(Arithmetic::Int64).reduce(Reduction::Any, &values, columns), Ok(vec![1, 1, 1]));
    // The largest multiple of 2^32 is no more than zero to an arithmetic of low words.
    assert_eq!(reference(Arithmetic::LowWord).reduce(Reduction::Any, &[TWO_32], Axis::flat(1)), Ok(vec![0]));
}

#[test]
fn reductions_of_nothing() {
    let none = Axis::flat(0);
    let reduce = |op| reference(Arithmetic::Int64).reduce(op, &[], none);
    assert_eq!((reduce(Reduction::Sum), reduce(Reduction::Prod)), (Ok(vec![0]), Ok(vec![1])));
    assert_eq!((reduce(Reduction::All), reduce(Reduction::Any)), (Ok(vec![1]), Ok(vec![0])));
    for op in [Reduction::Min, Reduction::Max, Reduction::ArgMin, Reduction::ArgMax] {
        assert_eq!(reduce(op).unwrap_err().to_string(), "op: operand 0 has 0 elements where 1 are needed");
    }
    let error = reference(Arithmetic::Int64).reduce(Reduction::Sum, &[1], none).unwrap_err();
    assert_eq!(error.to_string(), "op: operand 0 has 1 elements where 0 are needed");
}

#[test]
fn scans_carry_values_and_their_places() {
    let scan = |op, arithmetic, values: &[i64]| {
        reference(arithmetic).scan(op, values, Axis::flat(values.len())).unwrap()
    };
    let sums = |arithmetic| scan(ScanOp::Sum, arithmetic, &[TWO_31 - 1, 1, -1]).values;
    assert_eq!(
        (sums(Arithmetic::Int64), sums(Arithmetic::LowWord)),
        (vec![TWO_31 - 1, TWO_31, TWO_31 - 1], vec![TWO_31 - 1, -TWO_31, TWO_31 - 1])
    );
    assert_eq!(scan(ScanOp::Prod, Arithmetic::Int64, &[2, 3, 4]).values, [2, 6, 24]);
    let largest = scan(ScanOp::Max, Arithmetic::Int64, &[1, 2, 2, 0]);
    assert_eq!((largest.values, largest.places), (vec![1, 2, 2, 2], vec![0, 1, 2, 2]));
    let smallest = scan(ScanOp::Min, Arithmetic::Int64, &[1, 1, 3]);
    assert_eq!((smallest.values, smallest.places), (vec![1, 1, 1], vec![0, 1, 1]));
    let down = Axis::of(&[2, 2], 0).unwrap();
    assert_eq!(
        reference(Arithmetic::Int64).scan(ScanOp::Sum, &[1, 2, 3, 4], down).unwrap().values,
        [1, 2, 4, 6]
    );
}

#[test]
fn sorting_by_low_words_puts_values_elsewhere() {
    let values = [TWO_32, 7, -1];
    let sort = |arithmetic, order| {
        let sorted = reference(arithmetic).sort(&values, Axis::flat(3), order).unwrap();
        (sorted.values, sorted.places)
    };
    assert_eq!(sort(Arithmetic::Int64, Order::Ascending), (vec![-1, 7, TWO_32], vec![2, 1, 0]));
    assert_eq!(sort(Arithmetic::LowWord, Order::Ascending), (vec![-1, 0, 7], vec![2, 0, 1]));
    assert_eq!(sort(Arithmetic::Int64, Order::Descending).1, [0, 1, 2]);
    let top = reference(Arithmetic::Int64).topk(&[5, 1, 5, 9], Axis::flat(4), 3, Order::Descending).unwrap();
    assert_eq!((top.values, top.places), (vec![9, 5, 5], vec![3, 0, 2]));
    let columns = Axis::of(&[2, 2], 0).unwrap();
    let top = reference(Arithmetic::Int64).topk(&[1, 9, 8, 2], columns, 1, Order::Descending).unwrap();
    assert_eq!((top.values, top.places), (vec![8, 9], vec![1, 0]));
    let error = reference(Arithmetic::Int64).topk(&[1], Axis::flat(1), 2, Order::Ascending).unwrap_err();
    assert_eq!(error.to_string(), "op: 2 elements asked of 1");
}

#[test]
fn the_check_names_operator_operand_index_and_value() {
    let packed = Reference::new("aten.mul.Tensor", Arithmetic::LowWord).checked(true);
    let error = packed.binary(BinaryOp::Mul, &[1, 2, 3], &[1, TWO_31, -TWO_31 - 1]).unwrap_err();
    let Int64Error::Overflow { operator, operand, index, value, count } = &error else { panic!("{error}") };
    assert_eq!(
        (operator.as_str(), *operand, *index, *value, *count),
        ("aten.mul.Tensor", Operand::Input(1), 1, TWO_31, 2)
    );
    assert!(error.is_overflow());
    // Operands that fit, and a result that does not.
    let error = packed.binary(BinaryOp::Mul, &[7, 1 << 16], &[1, 1 << 16]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten.mul.Tensor: result, element 1: 4294967296 is outside the range of int32 (1 such value), \
         and the packed view computes with the low 32 bits"
    );
    let sum = Reference::new("aten.cumsum", Arithmetic::LowWord).checked(true);
    let error = sum.scan(ScanOp::Sum, &[TWO_31 - 1, 1, 1], Axis::flat(3)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten.cumsum: result, element 1: 2147483648 is outside the range of int32 (2 such values), \
         and the packed view computes with the low 32 bits"
    );
    // 64-bit arithmetic has nothing to check.
    let native = Reference::new("aten.add", Arithmetic::Int64).checked(true);
    assert_eq!(native.unary(UnaryOp::Neg, &[TWO_32]), Ok(vec![-TWO_32]));
}

#[test]
fn axes_of_shapes() {
    assert_eq!(Axis::of(&[], 0), None);
    assert_eq!(Axis::of(&[2], 1), None);
    assert_eq!(Axis::of(&[usize::MAX, 2], 0), None);
    assert_eq!(Axis::of(&[0, 3], 1).map(|axis| (axis.is_empty(), axis.len())), Some((true, Some(0))));
    let huge = Axis { n_outer: usize::MAX, n: 0, n_inner: 5 };
    assert_eq!(reference(Arithmetic::Int64).sort(&[], huge, Order::Ascending), Ok(Default::default()));
    assert_eq!(reference(Arithmetic::Int64).scan(ScanOp::Sum, &[], huge), Ok(Default::default()));
    let huge = Axis { n_outer: usize::MAX, n: 2, n_inner: 5 };
    assert_eq!(reference(Arithmetic::Int64).sort(&[], huge, Order::Ascending), Err(Int64Error::TooLarge));
}
