import { startVideoNode, KEYED } from './support/video-node.ts';
import { cpuMicros } from './bench/proc.ts';
const node=await startVideoNode();
const pid=node.pid('svc-video');
const film=await node.fetch('/api/video/live.mp4',{headers:KEYED});
const reader=film.body!.getReader();
let bytes=0;
(async()=>{for(;;){const {value,done}=await reader.read();if(done)break;bytes+=value!.length;}})();
await new Promise(r=>setTimeout(r,3000));
for(let k=0;k<2;k++){
const s0=(await node.json('/api/video',{headers:KEYED})).body;
const c0=cpuMicros(pid),t0=performance.now(),b0=bytes;
await new Promise(r=>setTimeout(r,8000));
const c1=cpuMicros(pid),t1=performance.now();
const s1=(await node.json('/api/video',{headers:KEYED})).body;
const f=Number(s1['frames'])-Number(s0['frames']);
console.log('frames',f,'us/frame',(c1-c0)/f,'load%',(c1-c0)/(t1-t0)/10,'kbps',(bytes-b0)*8/(t1-t0));
}
await node.stop();process.exit(0);
