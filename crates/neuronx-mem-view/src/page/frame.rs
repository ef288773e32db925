//! The file around the content: markup, style, program, and the policy that allows nothing else.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// The body, with a place for the content.
const BODY: &str = include_str!("../../assets/body.html");

/// Where the content goes.
const CONTENT_MARK: &str = "{{content}}";

/// The style, in order.
const STYLES: [&str; 3] = [
    include_str!("../../assets/vendor/uPlot.min.css"),
    include_str!("../../assets/css/base.css"),
    include_str!("../../assets/css/parts.css"),
];

/// The library for plots, a program of its own.
const LIBRARY: &str = include_str!("../../assets/vendor/uPlot.iife.min.js");

/// Its licence.
const LIBRARY_LICENCE: &str = include_str!("../../assets/vendor/uPlot.LICENSE");

/// The program, in order; one scope of its own.
const PROGRAM: [&str; 14] = [
    include_str!("../../assets/js/format.js"),
    include_str!("../../assets/js/content.js"),
    include_str!("../../assets/js/recording.js"),
    include_str!("../../assets/js/state.js"),
    include_str!("../../assets/js/colours.js"),
    include_str!("../../assets/js/timeline.js"),
    include_str!("../../assets/js/lanes.js"),
    include_str!("../../assets/js/map.js"),
    include_str!("../../assets/js/details.js"),
    include_str!("../../assets/js/filter.js"),
    include_str!("../../assets/js/stacks.js"),
    include_str!("../../assets/js/notes.js"),
    include_str!("../../assets/js/keys.js"),
    include_str!("../../assets/js/main.js"),
];

/// Writes the page with this content.
pub(super) fn write(content: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let style = STYLES.concat();
    let program = format!("(() => {{\n'use strict';\n{}}})();\n", PROGRAM.concat());
    let (before, after) = BODY.split_once(CONTENT_MARK).unwrap_or((BODY, ""));
    let before = before.replace("{{licence}}", LIBRARY_LICENCE.trim());
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Memory history</title>\n<style>{style}</style>\n</head>\n<body>\n{before}",
        policy(&style, &[LIBRARY, &program])
    )?;
    let mut encoder = GzEncoder::new(EncoderWriter::new(&mut *out, &STANDARD), Compression::new(6));
    encoder.write_all(content)?;
    encoder.finish()?.finish()?;
    write!(out, "{after}<script>{LIBRARY}</script>\n<script>{program}</script>\n</body>\n</html>\n")
}

/// Exactly these programs and this style, no request of any kind.
fn policy(style: &str, programs: &[&str]) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let programs: Vec<String> = programs.iter().map(|program| hash(program)).collect();
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; base-uri 'none'; \
         form-action 'none'",
        programs.join(" "),
        hash(style)
    )
}
