//! Form of keys and what changes them.

use proptest::prelude::*;

use super::{CacheKey, KeyBuilder};

#[track_caller]
fn check_refused(text: &str) {
    assert_eq!(text.parse::<CacheKey>().unwrap_err().n_bytes, text.len());
}

fn builder() -> KeyBuilder {
    KeyBuilder::new("2.27.1").compiler_config(b"trn2_2_-O1")
}

#[test]
fn xxh3_key_format() {
    // Values of the xxHash reference implementation, `xxhsum -H2`.
    let known = [
        ("a", "a96faf705af16834e6c632b61e964e1f"),
        ("abc", "06b05ab6733a618578af5f94892f3950"),
        ("hello world", "df8d09e93f874900a99b8775cc15b6c7"),
    ];
    for (text, key) in known {
        assert_eq!(CacheKey::of_bytes(text.as_bytes()).to_string(), key);
    }
    assert_eq!(CacheKey::of_bytes(b"").to_string(), "00000000000000000000000000000000");
    assert_eq!(format!("{:?}", CacheKey::from_number(0xab)), "CacheKey(000000000000000000000000000000ab)");
}

#[test]
fn other_texts_are_no_keys() {
    for text in [
        "",
        "0",
        &"0".repeat(31),
        &"0".repeat(33),
        &"A".repeat(32),
        &"+".repeat(32),
        "../../../../../../../etc/passwd.",
    ] {
        check_refused(text);
    }
    check_refused(&"é".repeat(16));
}

#[test]
fn consistent_key_generation() {
    assert_eq!(builder().from_hlo(b"module"), builder().from_hlo(b"module"));
    assert_eq!(builder().from_base_key("add_f32"), builder().from_base_key("add_f32"));
}

#[test]
fn different_ir_bytes_different_keys() {
    assert_ne!(builder().from_hlo(b"module a"), builder().from_hlo(b"module b"));
    assert_ne!(builder().from_hlo(b"x"), builder().from_base_key("x"));
}

#[test]
fn version_and_config_invalidate() {
    let key = builder().from_hlo(b"module");
    assert_ne!(key, KeyBuilder::new("2.28.0").compiler_config(b"trn2_2_-O1").from_hlo(b"module"));
    assert_ne!(key, KeyBuilder::new("2.27.1").compiler_config(b"trn2_1_-O1").from_hlo(b"module"));
    assert_ne!(key, KeyBuilder::new("2.27.1").from_hlo(b"module"));
}

#[test]
fn parts_do_not_run_together() {
    let split = |first: &[u8], second: &[u8]| {
        KeyBuilder::new("v").compiler_config(first).compiler_config(second).from_hlo(b"")
    };
    assert_ne!(split(b"ab", b"c"), split(b"a", b"bc"));
    assert_ne!(split(b"abc", b""), KeyBuilder::new("v").compiler_config(b"abc").from_hlo(b""));
}

#[test]
fn key_from_hlo_decides_what_counts() {
    let key = |from_hlo, hlo: &[u8], base| builder().build(from_hlo, hlo, base);
    assert_eq!(key(true, b"hlo", "one"), key(true, b"hlo", "two"));
    assert_ne!(key(true, b"hlo", "one"), key(true, b"olh", "one"));
    assert_eq!(key(false, b"hlo", "one"), key(false, b"olh", "one"));
    assert_ne!(key(false, b"hlo", "one"), key(false, b"hlo", "two"));
}

proptest! {
    #[test]
    fn printed_keys_parse_back(number: u128) {
        let key = CacheKey::from_number(number);
        prop_assert_eq!(key.to_string().parse::<CacheKey>(), Ok(key));
        prop_assert_eq!(key.number(), number);
    }

    #[test]
    fn any_text_is_read_or_refused(text: String) {
        if let Ok(key) = text.parse::<CacheKey>() {
            prop_assert_eq!(key.to_string(), text);
        }
    }
}
