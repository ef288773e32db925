//! The packed view by hand: the layouts that PyTorch gives where it gives one, those where it refuses,
//! and what is no packed view.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_int64::{
    Int64Error, PackedForm, PackedLayout, PackedRef, TensorLayout, TensorRef, Word, as_values, as_values_mut,
    as_words, as_words_mut,
};

fn layout(shape: &[usize], strides: &[usize], offset: usize) -> TensorLayout {
    TensorLayout::new(shape, strides, offset).unwrap()
}

#[track_caller]
fn check(values: TensorLayout, form: PackedForm, words: TensorLayout) {
    let packed = PackedLayout::of(&values);
    assert_eq!((packed.form(), packed.words()), (form, &words));
    assert_eq!(packed.unpack(), values);
    assert_eq!(PackedLayout::from_words(words, form), Ok(packed));
}

/// Shapes and strides as `view(torch.int32)` of PyTorch 2.15 prints them.
#[test]
fn where_pytorch_has_a_view_it_is_the_same() {
    let doubled = PackedForm::LastDoubled;
    check(layout(&[2, 3], &[3, 1], 0), doubled, layout(&[2, 6], &[6, 1], 0));
    check(layout(&[2, 1], &[3, 1], 0), doubled, layout(&[2, 2], &[6, 1], 0));
    check(layout(&[0, 3], &[3, 1], 0), doubled, layout(&[0, 6], &[6, 1], 0));
    // An expanded row keeps its stride of zero.
    check(layout(&[3, 3], &[0, 1], 0), doubled, layout(&[3, 6], &[0, 1], 0));
    check(layout(&[2], &[1], 4), doubled, layout(&[4], &[1], 8));
}

/// PyTorch has no view of these without a copy: the last stride must be 1 there.
#[test]
fn where_pytorch_refuses_a_pair_is_appended() {
    let pair = PackedForm::PairAppended;
    check(layout(&[3, 2], &[1, 3], 0), pair, layout(&[3, 2, 2], &[2, 6, 1], 0));
    check(layout(&[3, 1], &[1, 3], 0), pair, layout(&[3, 1, 2], &[2, 6, 1], 0));
    check(layout(&[3], &[0], 0), pair, layout(&[3, 2], &[0, 1], 0));
    check(layout(&[2, 2], &[3, 2], 1), pair, layout(&[2, 2, 2], &[6, 4, 1], 2));
    check(layout(&[], &[], 7), PackedForm::Scalar, layout(&[2], &[1], 14));
}

#[test]
fn what_is_no_packed_view_is_refused() {
    let refused = |shape: &[usize], strides: &[usize], offset, form| {
        let words = layout(shape, strides, offset);
        let n_words = words.len();
        assert_eq!(PackedLayout::from_words(words, form), Err(Int64Error::NotPairs { n_words }));
    };
    refused(&[3], &[1], 0, PackedForm::LastDoubled);
    refused(&[4], &[2], 0, PackedForm::LastDoubled);
    refused(&[4], &[1], 1, PackedForm::LastDoubled);
    refused(&[2, 4], &[5, 1], 0, PackedForm::LastDoubled);
    refused(&[], &[], 0, PackedForm::LastDoubled);
    refused(&[4], &[1], 0, PackedForm::Scalar);
    refused(&[2], &[1], 0, PackedForm::PairAppended);
    refused(&[3, 4], &[6, 1], 0, PackedForm::PairAppended);
    refused(&[3, 2], &[2, 1], 0, PackedForm::PairAppended);
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    assert_eq!(TensorLayout::new([2, 3], [1], 0), Err(Int64Error::Rank { n_dims: 2, n_strides: 1 }));
    let too_large = Err(Int64Error::TooLarge);
    assert_eq!(TensorLayout::new([usize::MAX, 2], [1, 1], 0), too_large);
    assert_eq!(TensorLayout::new([3], [usize::MAX], 0), too_large);
    assert_eq!(TensorLayout::new([1], [1], usize::MAX), too_large);
    // Its values could be addressed, its words could not.
    assert_eq!(TensorLayout::new([usize::MAX / 2 + 1], [1], 0), too_large);
    assert_eq!(TensorLayout::contiguous([2, usize::MAX, 2]), too_large);
}

#[test]
fn storage_must_reach_to_the_last_element() {
    let tensor = |n| TensorRef::new(&[0; 9][..n], layout(&[2, 2], &[3, 2], 1));
    assert_eq!(tensor(6).unwrap_err(), Int64Error::Storage { needed: 7, available: 6 });
    assert_eq!(tensor(7).unwrap().get(&[1, 1]), Some(0));
    let packed = PackedLayout::of(&layout(&[2], &[1], 0));
    assert_eq!(PackedRef::new(&[0; 3], packed).unwrap_err(), Int64Error::Storage { needed: 4, available: 3 });
    // No element needs no storage.
    assert!(TensorRef::new(&[], layout(&[0, 5], &[5, 1], 100)).is_ok());
}

#[test]
fn elements_and_words_outside_of_the_shape_are_none() {
    let storage = [1, 1 << 32, -1, 4];
    let tensor = TensorRef::new(&storage, layout(&[2, 2], &[2, 1], 0)).unwrap();
    let packed = tensor.packed();
    assert_eq!((packed.get(&[0, 1]), packed.word(&[0, 1], Word::High)), (Some(1 << 32), Some(1)));
    assert_eq!((packed.get(&[1, 0]), packed.word(&[1, 0], Word::Low)), (Some(-1), Some(-1)));
    for index in [&[0, 2][..], &[2, 0], &[0], &[], &[0, 0, 0], &[usize::MAX, 0], &[0, usize::MAX]] {
        assert_eq!((tensor.get(index), packed.get(index)), (None, None), "{index:?}");
    }
    assert_eq!(TensorRef::new(&storage, layout(&[], &[], 3)).unwrap().packed().get(&[]), Some(4));
}

#[test]
fn words_are_the_same_memory() {
    let mut values = [7, -2];
    as_words_mut(&mut values)[1] = 1;
    assert_eq!(values, [(1 << 32) + 7, -2]);
    let words = as_words(&values);
    assert_eq!(words.as_ptr().cast(), values.as_ptr());
    assert_eq!(as_values(&words[..3]), Err(Int64Error::NotPairs { n_words: 3 }));
    // Whole pairs, at an address between two values.
    assert_eq!(as_values(&words[1..3]), Err(Int64Error::NotPairs { n_words: 2 }));
    let words = as_words_mut(&mut values);
    as_values_mut(words).unwrap()[0] = 5;
    assert_eq!(as_values_mut(&mut as_words_mut(&mut values)[1..]), Err(Int64Error::NotPairs { n_words: 3 }));
    assert_eq!(values, [5, -2]);
}

#[test]
fn contiguity_ignores_dimensions_of_one() {
    assert!(layout(&[2, 1, 3], &[3, 77, 1], 5).is_contiguous());
    assert!(layout(&[0, 3], &[9, 9], 0).is_contiguous());
    assert!(layout(&[], &[], 0).is_contiguous());
    assert!(!layout(&[2, 3], &[1, 2], 0).is_contiguous());
    assert!(!layout(&[3], &[0], 0).is_contiguous());
}
