//! What goes into a page: the choice of allocations, the tiles, the texts, the file.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use neuronx_mem_replay::{Input, ReplayOptions, TraceReader};

use super::choose::Chosen;
use super::text::Shown;
use super::tiles::Tiles;
use super::{PageOptions, write_page};
use crate::Recording;

/// `n` tensors of growing size, each freed when the one after the next is there.
fn staircase(n: u64) -> Recording {
    let mut text = String::new();
    for id in 1..=n {
        text += &format!("a,{id},{},0\n", id * 4096);
        if id > 2 {
            text += &format!("f,{}\n", id - 2);
        }
    }
    let input = Input::from_events(TraceReader::new(text.as_bytes(), "staircase")).unwrap();
    Recording::of(&input, &ReplayOptions::default()).unwrap()
}

#[test]
fn a_choice_has_every_block_of_its_moments_and_then_the_largest() {
    let recording = staircase(400);
    let chosen = Chosen::of(&recording, 100);
    assert!(!chosen.is_all && chosen.idxs.len() == 100 && chosen.idxs.is_sorted());
    assert!(chosen.moments.contains(&recording.totals.peak_event));
    assert!(chosen.moments.contains(&recording.n_events()));
    assert!(chosen.moments.len() > 10);
    for moment in &chosen.moments {
        for id in recording.live_at(*moment) {
            assert!(chosen.idxs.binary_search(&id.0).is_ok(), "event {moment}: {id:?}");
        }
        assert_eq!(chosen.rest_bytes[usize::try_from(*moment).unwrap()], 0);
    }
    let sizes = &recording.allocations.block_bytes;
    let left_out = (0..400).filter(|idx| chosen.idxs.binary_search(idx).is_err());
    assert_eq!(left_out.map(|idx| sizes[idx as usize]).max().unwrap(), chosen.largest_left_out);
    // What is there and what is left out add up after every event.
    for event in 0..=recording.n_events() {
        let there = recording.live_at(event).filter(|id| chosen.idxs.binary_search(&id.0).is_ok());
        let there: u64 = there.map(|id| sizes[id.0 as usize]).sum();
        let idx = usize::try_from(event).unwrap();
        assert_eq!(there + chosen.rest_bytes[idx], recording.timeline.allocated_bytes[idx]);
    }
}

#[test]
fn where_nothing_fits_there_is_no_whole_moment() {
    let recording = staircase(50);
    let chosen = Chosen::of(&recording, 1);
    assert!(chosen.moments.is_empty());
    let sizes = &recording.allocations.block_bytes;
    assert_eq!(chosen.idxs.len(), 1);
    assert_eq!(sizes[chosen.idxs[0] as usize], *sizes.iter().max().unwrap());
    assert!(Chosen::of(&recording, 50).is_all);
}

#[test]
fn tiles_keep_the_peak_and_the_trough() {
    let recording = staircase(100);
    let exact = Tiles::of(&recording.timeline, 1000);
    assert_eq!((exact.tile_events, exact.columns.len()), (1, 3));
    let tiles = Tiles::of(&recording.timeline, 20);
    assert_eq!(tiles.tile_events, recording.timeline.reserved_bytes.len().div_ceil(20));
    let column = |name: &str| &tiles.columns.iter().find(|(it, _)| *it == name).unwrap().1;
    let peak = column("allocated").iter().copied().fold(0.0, f64::max);
    assert_eq!(peak, super::tiles::number(recording.totals.allocated_peak_bytes));
    assert!(column("allocated").iter().zip(column("allocated_low")).all(|(high, low)| high >= low));
    assert!(tiles.columns.iter().all(|(_, column)| column.len() <= 20));
}

#[test]
fn letters_that_act_are_shown_as_numbers_and_long_texts_are_cut() {
    let mut shown = Shown::default();
    assert_eq!(shown.text("a\u{202e}b\u{2066}c\u{0}d\ne"), "a\\u{202e}b\\u{2066}c\\u{0}d\\u{a}e");
    assert_eq!(
        shown.text("<script>alert(1)</script> „ümläut“ 日本"),
        "<script>alert(1)</script> „ümläut“ 日本"
    );
    assert_eq!(shown.n_cut, 0);
    let long = shown.text(&"x".repeat(1 << 20));
    assert!(long.ends_with("x… [cut: 1048576 bytes in all]") && long.len() < 700, "{long}");
    assert_eq!(shown.n_cut, 1);
}

#[test]
fn a_page_asks_for_nothing_and_holds_no_text_of_the_input() {
    let text = "m,</script><img src=x onerror=alert(1)>\na,1,512,0\n";
    let input = Input::from_events(TraceReader::new(text.as_bytes(), "<b>name</b>")).unwrap();
    let recording = Recording::of(&input, &ReplayOptions::default()).unwrap();
    let mut page = Vec::new();
    write_page(&recording, &PageOptions::default(), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(!page.contains("onerror") && !page.contains("<b>name</b>"));
    let policy =
        page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    assert_eq!(page.matches("<script>").count(), 2, "the library and the program, both named in the policy");
    assert_eq!(page.matches("{{").count(), 0);
    let again = {
        let mut again = Vec::new();
        write_page(&recording, &PageOptions::default(), &mut again).unwrap();
        String::from_utf8(again).unwrap()
    };
    assert!(page == again, "the same recording makes the same page");
}

/// The version that `cargo xtask vendor` fetches, unchanged.
#[test]
fn the_library_is_the_one_that_was_fetched() {
    use sha2::{Digest, Sha256};
    let hash =
        |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let library = include_str!("../../assets/vendor/uPlot.iife.min.js");
    assert!(library.starts_with("/*! https://github.com/leeoniya/uPlot (v1.6.32) */"));
    assert_eq!(hash(library.as_bytes()), "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f");
    assert_eq!(
        hash(include_bytes!("../../assets/vendor/uPlot.min.css")),
        "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"
    );
    assert!(include_str!("../../assets/vendor/uPlot.LICENSE").contains("The MIT License"));
}
