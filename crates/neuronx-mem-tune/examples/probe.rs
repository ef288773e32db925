//! x
use neuronx_mem_replay::*; use neuronx_mem_tune::*; use std::time::*;
fn main(){ for t in std::env::args().skip(1){
 let w=Workload::of_trace(&Trace::read_input(&TraceInput::from_argument(format!("tests/data/traces/{t}.csv.zst")),false).unwrap()).unwrap();
 let t0=Instant::now(); let mut o=PlanOptions::default(); o.time_budget=Some(Duration::from_secs(20)); let p=plan(&w,&o);
 println!("{t} gap {:.3}% {:?}",p.gap_percent(),t0.elapsed());
 for pt in [0,1,10,100]{let f=follow(&p,&w,Some(Deviation{per_thousand:pt,seed:1})).unwrap(); println!("  {pt} {:?} {:.4}",f,f.reserved_peak_bytes as f64/w.live_peak_bytes() as f64)}
}}
