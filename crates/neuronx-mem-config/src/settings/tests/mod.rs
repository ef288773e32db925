//! Unit tests of the typed settings.

use std::path::Path;

use crate::{
    ArtifactLayout, CacheSettings, CompilationLayout, ConfigError, CoreSet, EnvFinding, Environment,
    Int64Mode, Int64Settings, LogLevel, MetricTable, MetricsSettings, ProfileMode, ProfilingDefaults,
    RuntimeSwitches,
};

fn environment(pairs: &[(&str, &str)]) -> Environment {
    Environment::from_pairs(pairs.iter().copied())
}

fn messages(findings: &[EnvFinding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn profiling_defaults_are_those_of_the_reference() {
    let (profiling, findings) = ProfilingDefaults::from_environment(&Environment::default());
    assert_eq!(findings, []);
    assert!(profiling.default_session);
    let modes = [ProfileMode::Runtime, ProfileMode::CpuUtil, ProfileMode::HostMemory];
    assert_eq!(profiling.modes, modes.into());
    assert_eq!(profiling.ranks, [0].into());
    assert_eq!(profiling.max_events_per_core, 10_000_000);
    assert_eq!(profiling.cores.iter().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(profiling.output_dir, Path::new("neuron_profile"));
    assert_eq!(profiling.neff_dir(), None);
}

#[test]
fn profiling_takes_what_is_good_and_reports_the_rest() {
    let (profiling, findings) = ProfilingDefaults::from_environment(&environment(&[
        ("TORCH_NEURONX_PROFILE_DEFAULT_SESSION", "0"),
        ("TORCH_NEURONX_PROFILE_MODES", "device,gpu"),
        ("TORCH_NEURONX_PROFILE_RANKS", "8,0,8,x"),
        ("TORCH_NEURONX_PROFILE_OUTPUT_DIR", "/out"),
        ("NEURON_NUMA_PIN", "not asked for"),
    ]));
    assert_eq!(profiling.modes, [ProfileMode::Device].into());
    assert_eq!(profiling.ranks, [0, 8].into());
    assert!(!profiling.is_recorded(0));
    assert_eq!(profiling.neff_dir().as_deref(), Some(Path::new("/out/neffs")));
    insta::assert_snapshot!(messages(&findings).join("\n"), @"
    TORCH_NEURONX_PROFILE_MODES: the item `gpu` is ignored because it is none of runtime, cpu_util, host_memory, device
    TORCH_NEURONX_PROFILE_RANKS: the item `x` is ignored because it is not a whole number in decimal digits
    TORCH_NEURONX_PROFILE_MODES has no effect while TORCH_NEURONX_PROFILE_DEFAULT_SESSION is off
    TORCH_NEURONX_PROFILE_RANKS has no effect while TORCH_NEURONX_PROFILE_DEFAULT_SESSION is off
    TORCH_NEURONX_PROFILE_OUTPUT_DIR has no effect while TORCH_NEURONX_PROFILE_DEFAULT_SESSION is off
    ");
}

#[test]
fn core_sets_merge_and_print_shortest() {
    let check = |text: &str, printed: &str, len: usize| {
        let cores: CoreSet = text.parse().unwrap();
        assert_eq!((cores.to_string().as_str(), cores.len()), (printed, len), "{text}");
        assert_eq!(printed.parse(), Ok(cores), "{text}");
    };
    check("0,1,2-5", "0-5", 6);
    check("5", "5", 1);
    check("9, 7-8 ,7,3", "3,7-9", 4);
    check("1-1", "1", 1);
    check("0-1023", "0-1023", 1024);
    assert!(CoreSet::default().is_empty());
    assert_eq!(CoreSet::default().to_string(), "");
}

#[test]
fn core_sets_refuse_the_first_bad_item() {
    let check = |text: &str, message: &str| {
        assert_eq!(text.parse::<CoreSet>().unwrap_err().to_string(), message, "{text}");
    };
    check("", "core list: `` is an empty item");
    check("1,,2", "core list: `` is an empty item");
    check("3-1", "core list: `3-1` is a range from high to low");
    check("1-2-3", "core list: `1-2-3` is not a whole number in decimal digits");
    check("-1", "core list: `-1` is not a whole number in decimal digits");
    check("1-", "core list: `1-` is not a whole number in decimal digits");
    check("1024", "core list: `1024` is not in 0 to 1023");
    check("0-4294967296", "core list: `0-4294967296` is not in 0 to 1023");
    check("0x1", "core list: `0x1` is not a whole number in decimal digits");
}

#[test]
fn artifacts_lie_where_the_reference_draws_them() {
    let layout = ArtifactLayout::new("/d", 5);
    let job = layout.job("j1").unwrap();
    assert_eq!(job.dir(), Path::new("/d/torch_neuronx/rank5/j1"));
    let inside = |path: &Path| path.strip_prefix(job.dir()).unwrap().to_string_lossy().into_owned();
    assert_eq!(inside(&job.fx_graph("m", "t").unwrap()), "fx_graphs/m_t.fx.txt");
    assert_eq!(inside(&job.transformed_fx("m", "t").unwrap()), "transformed_fx/m_t.transformed.fx.txt");
    assert_eq!(inside(&job.raw("m", "t").unwrap()), "raw/m_t.torch_raw.mlir");
    assert_eq!(inside(&job.stablehlo("m", "t").unwrap()), "stablehlo/m_t.stablehlo.mlir");
    assert_eq!(inside(&job.torch_mlir_error("m", "t").unwrap()), "torch_mlir_error/m_t.mlir");
    assert_eq!(inside(&job.inputs_dir()), "inputs");
    assert_eq!(inside(&job.outputs_dir()), "outputs");
    let compilation = layout.compilation("abc").unwrap();
    assert_eq!(compilation.dir(), Path::new("/d/neuronx-cc/abc"));
    let files = [
        CompilationLayout::log,
        CompilationLayout::module,
        CompilationLayout::neff,
        CompilationLayout::metadata,
        CompilationLayout::arguments,
    ];
    let names = files.map(|file| file(&compilation).file_name().unwrap().to_string_lossy().into_owned());
    let expected = ["log-neuron-cc.txt", "module.mlir", "module.neff", "metadata.txt", "compiler_args.txt"];
    assert_eq!(names, expected);
}

#[test]
fn artifacts_never_leave_their_directory() {
    let layout = ArtifactLayout::new("/d", 0);
    for name in ["", ".", "..", "a/b", "/etc", "a\\b", "a\0b"] {
        let job = layout.job(name);
        assert!(matches!(job, Err(ConfigError::PathComponent { .. })), "{name:?}");
        assert!(layout.compilation(name).is_err(), "{name:?}");
        let good = layout.job("j").unwrap();
        assert!(good.raw(name, "t").is_err() && good.raw("m", name).is_err(), "{name:?}");
    }
    let message = layout.job("../x\n").unwrap_err().to_string();
    assert_eq!(message, "`../x\\n` cannot be part of a file name");
}

#[test]
fn artifacts_follow_the_environment() {
    let (layout, findings) = ArtifactLayout::from_environment(&environment(&[
        ("TORCH_NEURONX_DEBUG_DIR", "/scratch"),
        ("TORCH_NEURONX_PRESERVE_COMPILATION_ARTIFACTS", "1"),
        ("TORCH_NEURONX_DYNAMO_TENSOR_DUMPS", "1"),
        ("RANK", "-1"),
    ]));
    assert!(layout.is_kept && layout.dumps_tensors);
    assert_eq!(layout.rank_dir(), Path::new("/scratch/torch_neuronx/rank0"));
    assert_eq!(
        messages(&findings),
        ["RANK: `-1` is not a whole number in decimal digits; it counts as unset"]
    );
}

#[test]
fn metric_tables_are_ours_and_others() {
    let (metrics, findings) = MetricsSettings::from_environment(&environment(&[
        ("TORCH_NEURONX_ENABLED_METRIC_TABLES", "streams, memory,latency,memory"),
        ("TORCH_NEURONX_METRICS_DIR", "/m"),
    ]));
    assert_eq!(metrics.tables, [MetricTable::Memory, MetricTable::Streams].into());
    assert_eq!(metrics.other_tables, ["latency"]);
    assert_eq!((metrics.dir.as_path(), findings.len()), (Path::new("/m"), 1));
    let (metrics, findings) = MetricsSettings::from_environment(&Environment::default());
    assert!(metrics.tables.is_empty() && metrics.other_tables.is_empty() && findings.is_empty());
    assert_eq!(metrics.dir, Path::new("/tmp"));
}

#[test]
fn log_levels_are_filters_of_tracing() {
    let read = |text: &str| LogLevel::from_environment(&environment(&[("TORCH_NEURONX_LOG_LEVEL", text)]));
    let filters = ["0", "1", "2", "3"].map(|text| read(text).0.filter());
    assert_eq!(filters, ["error", "warn", "info", "debug"]);
    let (level, findings) = read("7");
    assert_eq!((level, findings.len()), (LogLevel::Warning, 1));
    assert!(LogLevel::Error < LogLevel::Debug);
    assert_eq!(LogLevel::of_number(4), None);
}

#[test]
fn caches_are_where_the_reference_puts_them() {
    let (cache, findings) = CacheSettings::from_environment(&Environment::default());
    assert_eq!(findings, []);
    assert!(cache.keeps_neff && cache.keeps_hlo && cache.key_from_hlo);
    assert_eq!(cache.neff_dir, Path::new("/tmp/neff_cache"));
    assert_eq!(cache.hlo_dir, Path::new("/tmp/hlo_cache"));
    assert_eq!(cache.local_dir, Path::new("/tmp/local_cache"));
    assert_eq!(cache.lock_timeout_seconds, 1200);
    let (cache, findings) = CacheSettings::from_environment(&environment(&[
        ("TORCH_NEURONX_NEFF_DISABLE_CACHE", "1"),
        ("TORCH_NEURONX_NEFF_CACHE_DIR", "/fsx"),
        ("TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT", "-5"),
    ]));
    assert!(!cache.keeps_neff);
    assert_eq!(
        messages(&findings),
        [
            "TORCH_NEURONX_NEFF_CACHE_LOCK_TIMEOUT: `-5` is not a whole number in decimal digits; the default \
         1200 holds",
            "TORCH_NEURONX_NEFF_CACHE_DIR has no effect while TORCH_NEURONX_NEFF_DISABLE_CACHE is on",
        ]
    );
}

#[test]
fn switches_are_on_and_off_as_the_reference_says() {
    let (switches, findings) = RuntimeSwitches::from_environment(&Environment::default());
    assert_eq!(findings, []);
    assert!(switches.oom_recovery && switches.streams && switches.scalar_cache);
    assert!(!switches.launch_blocking && !switches.host_collectives);
    assert!(!switches.stack_trace && !switches.pinned_malloc);
    let (switches, _) = RuntimeSwitches::from_environment(&environment(&[
        ("NEURON_OOM_RECOVERY_ENABLED", "0"),
        ("NEURON_LAUNCH_BLOCKING", "1"),
        ("TORCH_NEURONX_ENABLE_HOST_CC", "1"),
        ("TORCH_NEURONX_ENABLE_SCALAR_CACHE", "0"),
        ("TORCH_NEURONX_ENABLE_STACK_TRACE", "1"),
        ("TORCH_NEURONX_USE_PINNED_MALLOC", "1"),
    ]));
    assert!(!switches.oom_recovery && switches.streams && !switches.scalar_cache);
    assert!(switches.launch_blocking && switches.host_collectives);
    assert!(switches.stack_trace && switches.pinned_malloc);
}

#[test]
fn int64_modes_are_the_five_of_the_guidelines() {
    let read =
        |mode: &str| Int64Settings::from_environment(&environment(&[("TORCH_NEURONX_INT64_MODE", mode)])).0;
    for mode in Int64Mode::ALL {
        assert_eq!(read(mode.name()).mode, mode);
    }
    assert_eq!(read("nonsense"), Int64Settings::default());
    assert_eq!(
        crate::variables::TORCH_NEURONX_INT64_MODE.kind().words(),
        Int64Mode::ALL.map(Int64Mode::name)
    );
    let packing: Vec<_> = Int64Mode::ALL.into_iter().filter(|mode| mode.packs()).collect();
    assert_eq!(packing, [Int64Mode::Native, Int64Mode::Packed]);
}

#[test]
fn the_registry_and_the_types_have_the_same_words() {
    use crate::variables::{TORCH_NEURONX_ENABLED_METRIC_TABLES, TORCH_NEURONX_PROFILE_MODES};
    assert_eq!(TORCH_NEURONX_PROFILE_MODES.kind().words(), ProfileMode::ALL.map(ProfileMode::name));
    assert_eq!(TORCH_NEURONX_ENABLED_METRIC_TABLES.kind().words(), MetricTable::ALL.map(MetricTable::name));
}
