import { AV_PIX_FMT_YUV420P } from 'node-av/constants';
import { av, must } from '../residual/video/engine/av.ts';
import { H264Encoder } from '../residual/video/engine/encoder.ts';
import { TestPicture } from '../residual/video/sources/test-picture.ts';
const W=1280,H=720,N=300;
const blank=()=>{const f=new (av().Frame)();f.alloc();f.format=AV_PIX_FMT_YUV420P;f.width=W;f.height=H;must(f.getBuffer(),'x');return f;};
const enc=await H264Encoder.open('libx264',{width:W,height:H,fps:30,bitrate_kbps:4000});
const pic=new TestPicture(W,H);
let draw=0,encT=0,bytes=0;
for(let i=0;i<N;i++){
  const t=i*1000/30;
  using f=blank();
  const c0=process.cpuUsage();
  const [y,u,v]=f.data!; const [a,b,c]=f.linesize;
  pic.draw({y:y!,u:u!,v:v!,strides:[a!,b!,c!]} as any,1.7e12+t,i);
  const c1=process.cpuUsage(c0);
  for(const unit of await enc.encode(f,{capturedAt:t,at:Math.round(t*1000)},false)) bytes+=unit.data.length;
  const c2=process.cpuUsage(c0);
  if(i>30){draw+=c1.user+c1.system;encT+=c2.user+c2.system-c1.user-c1.system;}
}
console.log('draw us/frame',draw/(N-31),'encode',encT/(N-31),'kbps',bytes*8/N*30/1000);
process.exit(0);
