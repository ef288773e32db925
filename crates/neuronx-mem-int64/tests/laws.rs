//! What must hold for all values: the packed view against values, kernels against a scalar, packed
//! arithmetic against 64-bit arithmetic.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_int64::kernels::{self, copy_low_words, scan, sign_extend, truncate};
use neuronx_mem_int64::{
    Arithmetic, Axis, BinaryOp, Int64Error, Order, PackedLayout, PackedRef, Reduction, Reference, ScanOp,
    TensorLayout, TensorRef, UnaryOp, as_values, as_words,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Values of all sizes, with the edges of both widths and small ones often.
fn value() -> impl Strategy<Value = i64> {
    let edges = vec![0, -1, (1 << 31) - 1, 1 << 31, -(1 << 31), -(1 << 31) - 1, 1 << 32, i64::MAX, i64::MIN];
    prop_oneof![
        any::<i64>(),
        (any::<i64>(), 0..64u32).prop_map(|(value, by)| value >> by),
        select(edges),
        -9..9i64
    ]
}

/// Values of 32 bits, often small, so that results fit as often as they do not.
fn narrow() -> impl Strategy<Value = i64> {
    (any::<i32>(), 0..32u32).prop_map(|(value, by)| i64::from(value >> by))
}

/// By division, where the kernels use casts.
fn low(value: i64) -> i64 {
    let rest = value.rem_euclid(1 << 32);
    if rest < 1 << 31 { rest } else { rest - (1 << 32) }
}

fn modular() -> impl Strategy<Value = BinaryOp> {
    select(BinaryOp::ALL.iter().copied().filter(|op| op.is_modular()).collect::<Vec<_>>())
}

fn is_outside(value: i64) -> bool {
    !(-2_147_483_648..=2_147_483_647).contains(&value)
}

/// Any layout with its storage: permuted, stepped, expanded, empty, without dimensions.
fn tensor() -> impl Strategy<Value = (Vec<i64>, TensorLayout)> {
    let dim = (0..4usize, 0..7usize);
    (vec(dim, 0..4), 0..5usize).prop_flat_map(|(dims, offset)| {
        let (shape, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
        let layout = TensorLayout::new(shape, strides, offset).unwrap();
        (vec(value(), layout.n_storage()..layout.n_storage() + 3), Just(layout))
    })
}

proptest! {
    #[test]
    fn packed_and_back_is_the_identity((storage, layout) in tensor()) {
        let tensor = TensorRef::new(&storage, layout.clone()).unwrap();
        let packed = tensor.packed();
        prop_assert_eq!(packed.layout().unpack(), layout.clone());
        prop_assert_eq!(packed.layout().words().len(), 2 * layout.len());
        let values: Vec<i64> = indices(layout.shape()).map(|index| packed.get(&index).unwrap()).collect();
        prop_assert_eq!(&values, &tensor.iter().collect::<Vec<_>>());
        let again = PackedLayout::from_words(packed.layout().words().clone(), packed.layout().form());
        prop_assert_eq!(again.as_ref(), Ok(packed.layout()));
        prop_assert_eq!(PackedRef::new(as_words(&storage), again.unwrap()).unwrap().unpack().unwrap(), tensor);
    }

    #[test]
    fn words_and_back_is_the_identity(values in vec(value(), 0..50)) {
        prop_assert_eq!(as_values(as_words(&values)).unwrap(), &values[..]);
    }

    #[test]
    fn a_tensor_is_scanned_like_its_elements((storage, layout) in tensor()) {
        let tensor = TensorRef::new(&storage, layout).unwrap();
        prop_assert_eq!(tensor.scan(), scan(&tensor.iter().collect::<Vec<_>>()));
    }

    #[test]
    fn kernels_equal_one_value_at_a_time(mut values in vec(value(), 0..2500)) {
        let expected: Vec<i64> = values.iter().map(|value| low(*value)).collect();
        let mut words = vec![0; values.len()];
        copy_low_words(&values, &mut words).unwrap();
        prop_assert_eq!(&words.iter().map(|word| i64::from(*word)).collect::<Vec<_>>(), &expected);
        let mut widened = vec![0; words.len()];
        sign_extend(&words, &mut widened).unwrap();
        prop_assert_eq!(&widened, &expected);
        let found = scan(&values);
        prop_assert_eq!(found.count, values.iter().filter(|value| is_outside(**value)).count());
        let first = values.iter().position(|value| is_outside(*value));
        prop_assert_eq!(found.first.map(|first| (first.index, first.value)), first.map(|at| (at, values[at])));
        truncate(&mut values);
        prop_assert_eq!(&values, &expected);
        prop_assert!(scan(&values).is_clean());
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn threads_make_no_difference(seed in vec(value(), 1..40), n in 0..200_000usize) {
        let mut values: Vec<i64> = seed.iter().copied().cycle().take(n).collect();
        prop_assert_eq!(kernels::parallel::scan(&values), scan(&values));
        let (mut one, mut many) = (vec![0; n], vec![0; n]);
        copy_low_words(&values, &mut one).unwrap();
        kernels::parallel::copy_low_words(&values, &mut many).unwrap();
        prop_assert!(one == many);
        let (mut wide_one, mut wide_many) = (vec![0; n], vec![0; n]);
        sign_extend(&one, &mut wide_one).unwrap();
        kernels::parallel::sign_extend(&many, &mut wide_many).unwrap();
        kernels::parallel::truncate(&mut values);
        prop_assert!(wide_one == wide_many && wide_many == values);
    }
}

proptest! {
    // Cheap, and with many operators to choose from.
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn what_passes_the_check_equals_64_bits(op in select(BinaryOp::ALL), left in vec(narrow(), 1..9), right in narrow()) {
        let right = [right];
        let exact = Reference::new("op", Arithmetic::Int64).binary(op, &left, &right);
        let packed = Reference::new("op", Arithmetic::LowWord).binary(op, &left, &right);
        let checked = Reference::new("op", Arithmetic::LowWord).checked(true).binary(op, &left, &right);
        let Ok(exact) = exact else {
            prop_assert_eq!(packed, exact);
            return Ok(());
        };
        prop_assert_eq!(checked.is_ok(), scan(&exact).is_clean());
        // The operands fit: equal exactly when the results do too.
        prop_assert_eq!(packed.unwrap() == exact, scan(&exact).is_clean());
    }

    /// For sums, products and bits even operands that do not fit make no difference: the result is
    /// right exactly when it fits.
    #[test]
    fn modular_operators_are_right_exactly_when_the_result_fits(op in modular(), left in value(), right in value()) {
        let exact = op.apply(Arithmetic::Int64, left, right);
        let packed = op.apply(Arithmetic::LowWord, left, right);
        prop_assert_eq!(packed == exact, !is_outside(exact.unwrap()));
    }

    /// The other way round for every operator: a result that does not fit is never right.
    #[test]
    fn a_result_that_does_not_fit_is_never_right(op in select(BinaryOp::ALL), left in value(), right in value()) {
        if let Some(exact) = op.apply(Arithmetic::Int64, left, right).filter(|exact| is_outside(*exact)) {
            prop_assert_ne!(op.apply(Arithmetic::LowWord, left, right), Some(exact));
        }
    }

    #[test]
    fn the_check_finds_exactly_what_the_scan_finds(op in select(UnaryOp::ALL), values in vec(value(), 0..9)) {
        let exact = Reference::new("op", Arithmetic::Int64).unary(op, &values).unwrap();
        let checked = Reference::new("op", Arithmetic::LowWord).checked(true).unary(op, &values);
        let is_clean = scan(&values).is_clean() && scan(&exact).is_clean();
        prop_assert_eq!(checked.as_ref().ok(), is_clean.then_some(&exact));
        prop_assert_eq!(checked.is_err_and(|error| error.is_overflow()), !is_clean);
    }

    #[test]
    fn reductions_scans_and_sorts_that_pass_the_check_equal_64_bits(
        values in prop_oneof![vec(narrow(), 6), vec(value(), 6)],
        reduction in select(Reduction::ALL.to_vec()),
        scan_op in select(ScanOp::ALL.to_vec()),
        dim in 0..2usize,
    ) {
        let axis = Axis::of(&[2, 3], dim).unwrap();
        let exact = Reference::new("op", Arithmetic::Int64);
        let packed = Reference::new("op", Arithmetic::LowWord);
        let checked = packed.clone().checked(true);
        check_passed(&checked.reduce(reduction, &values, axis), &packed.reduce(reduction, &values, axis), &exact.reduce(reduction, &values, axis))?;
        check_passed(&checked.scan(scan_op, &values, axis), &packed.scan(scan_op, &values, axis), &exact.scan(scan_op, &values, axis))?;
        check_passed(&checked.sort(&values, axis, Order::Descending), &packed.sort(&values, axis, Order::Descending), &exact.sort(&values, axis, Order::Descending))?;
    }

    #[test]
    fn indices_that_pass_the_check_point_to_the_same_rows(index in vec(prop_oneof![0..4i64, value()], 1..4), source in vec(value(), 3)) {
        let data = [1.5, 2.5, 3.5, 4.5];
        let exact = Reference::new("op", Arithmetic::Int64);
        let packed = Reference::new("op", Arithmetic::LowWord);
        let checked = packed.clone().checked(true);
        check_passed(&checked.read_rows(&data, 1, &index), &packed.read_rows(&data, 1, &index), &exact.read_rows(&data, 1, &index))?;
        let add = |reference: &Reference| reference.scatter_add(&[1, 2, 3, 4], Axis::flat(4), &index, &source[..index.len()]);
        check_passed(&add(&checked), &add(&packed), &add(&exact))?;
    }
}

/// What the check lets through is the same in both arithmetics; what it stops, it calls an overflow,
/// or it is wrong in 64 bits too.
fn check_passed<T: PartialEq + std::fmt::Debug>(
    checked: &Result<T, Int64Error>,
    packed: &Result<T, Int64Error>,
    exact: &Result<T, Int64Error>,
) -> Result<(), TestCaseError> {
    match checked {
        Ok(_) => prop_assert!(checked == packed && checked == exact, "{checked:?} {packed:?} {exact:?}"),
        Err(error) => prop_assert!(error.is_overflow() || exact.as_ref() == Err(error), "{error}"),
    }
    Ok(())
}

/// Every index of a shape, row-major, by counting.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let n: usize = shape.iter().product();
    (0..n).map(move |mut number| {
        let mut index: Vec<usize> =
            shape.iter().rev().map(|size| (number % size, number /= size).0).collect();
        index.reverse();
        index
    })
}

#[test]
fn kernels_refuse_sides_of_different_length() {
    let error = copy_low_words(&[1, 2], &mut [0]).unwrap_err();
    assert_eq!(error.to_string(), "copy_low_words: result has 1 elements where 2 are needed");
    let error = kernels::sign_extend(&[1], &mut []).unwrap_err();
    assert_eq!(error.to_string(), "sign_extend: result has 0 elements where 1 are needed");
}
