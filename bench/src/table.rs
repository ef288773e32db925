//! The results as Markdown and JSON. One row an allocator, one column a workload.

use serde_json::json;

use crate::measure::Cell;

pub fn markdown(cells: &[Cell]) -> String {
    let (subjects, workloads) = (names(cells, |cell| &cell.subject), names(cells, |cell| &cell.workload));
    let mut lines = vec![
        format!("| ns/op, median (minimum) | {} |", workloads.join(" | ")),
        format!("|---|{}", "--:|".repeat(workloads.len())),
    ];
    for subject in &subjects {
        let row: Vec<String> = workloads.iter().map(|workload| text(cells, subject, workload)).collect();
        lines.push(format!("| {subject} | {} |", row.join(" | ")));
    }
    lines.join("\n")
}

pub fn json(cells: &[Cell]) -> String {
    let rows: Vec<_> = cells
        .iter()
        .map(|cell| {
            json!({
                "subject": cell.subject,
                "workload": cell.workload,
                "median_ns": cell.median_ns,
                "minimum_ns": cell.minimum_ns,
            })
        })
        .collect();
    json!({ "schema": 1, "cells": rows }).to_string()
}

pub fn find<'a>(cells: &'a [Cell], subject: &str, workload: &str) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.subject == subject && cell.workload == workload)
}

fn text(cells: &[Cell], subject: &str, workload: &str) -> String {
    find(cells, subject, workload)
        .map_or_else(|| "–".to_owned(), |cell| format!("{:.1} ({:.1})", cell.median_ns, cell.minimum_ns))
}

fn names(cells: &[Cell], name: impl Fn(&Cell) -> &String) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cell in cells {
        if !names.contains(name(cell)) {
            names.push(name(cell).clone());
        }
    }
    names
}
