//! Gives the shared library the name that programs ask for at run time. Builds and finds nothing.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libneuronx_mem_capi.so.0");
    }
}
