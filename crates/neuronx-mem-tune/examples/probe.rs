//! x
use neuronx_mem_replay::*; use neuronx_mem_tune::*; use std::time::*;
fn main(){ let a:Vec<String>=std::env::args().skip(1).collect();
 let mut m=Machine::default(); if let Ok(s)=std::env::var("MEM"){m.memory_bytes=Some(s.parse::<u64>().unwrap()<<30)}
 let ws:Vec<_>=a.iter().map(|t| Workload::of_trace(&Trace::read_input(&TraceInput::from_argument(format!("tests/data/traces/{t}.csv.zst")),false).unwrap()).unwrap()).collect();
 let mut o=TuneOptions::new(m); if let Ok(s)=std::env::var("B"){o.time_budget=Some(Duration::from_secs(s.parse().unwrap()))}
 let sets:Vec<Vec<Workload>> = if std::env::var("MULTI").is_ok(){vec![ws]}else{ws.into_iter().map(|w|vec![w]).collect()};
 for ws in sets {
 let t0=Instant::now(); let mut l=LocalSweep::new(&ws,m); let mut last=None;
 let t=tune(&ws,&o,&mut l,&mut |p|{ if last!=Some(p.phase){println!("  {:?} {:?} {} {:.4}",t0.elapsed(),p.phase,p.evaluated,p.best_ratio); last=Some(p.phase);} }).unwrap();
 for i in &t.inputs { let r=|f:&Figures| f.reserved_peak_bytes as f64/i.live_peak_bytes as f64; println!("{} default {:.4} best {:.4} ({}) robust {:.4} ({}) {:?}",i.input,r(&i.default),r(&i.best),i.best.num_device_alloc,r(&i.robust),i.robust.num_device_alloc,i.default.verdict);}
 println!(" best {}\n robust {}\n {}",t.best.config.to_env_string(),t.robust.config.to_env_string(),explain(&t.robust.config,ws[0].live_peak_bytes()));
 if let Some(v)=&t.validation{for h in &v.held_out{println!("  held {} {:?} {:?} {}",ws[h.input_idx].name(),h.steps,h.change_percent(),h.config.to_env_string())}}
 println!(" {} evals {:?} complete {}",t.evaluated,t0.elapsed(),t.is_complete);
 }}
