import { AV_PIX_FMT_YUV420P } from 'node-av/constants';
import { av, must } from '../residual/video/engine/av.ts';
import { Scaler } from '../residual/video/engine/scaler.ts';
const blank=(W:number,H:number)=>{const f=new (av().Frame)();f.alloc();f.format=AV_PIX_FMT_YUV420P;f.width=W;f.height=H;must(f.getBuffer(),'x');return f;};
for(const [w,h] of [[640,360],[960,540],[854,480]]){
 const s=new Scaler(); using f=blank(w!,h!);
 for(let i=0;i<30;i++){const o=await s.scale(f,1280,720);o.free();}
 const c0=process.cpuUsage();
 for(let i=0;i<200;i++){const o=await s.scale(f,1280,720);o.free();}
 const c=process.cpuUsage(c0);console.log(w,h,(c.user+c.system)/200);
}
// ground cast microbench
const W=1280,H=720;const out=new Uint8Array(W*H),oc=new Uint8Array(W*H/2);
const tex=new Uint8Array(1024*1024*10);for(let i=0;i<tex.length;i++)tex[i]=(i*7919)&255;
const lut=new Uint8Array(64*256);for(let i=0;i<lut.length;i++)lut[i]=i&255;
function ground(k:number,out:Uint8Array){
  for(let y=0;y<H;y++){
    const dz0=-0.2-y/H*0.8; let o=y*W;
    for(let x=0;x<W;x+=16){
      const t0=1/(dz0+x*1e-5), t1=1/(dz0+(x+16)*1e-5);
      let u=(x-640)*t0*200+k*1000, v=y*t0*200; const u1=(x+16-640)*t1*200+k*1000, v1=y*t1*200;
      const du=((u1-u)*4096)|0, dv=((v1-v)*4096)|0; // fixed step /16 with 16-bit
      let ui=(u*65536)|0, vi=(v*65536)|0; const b=((y>>4)&63)<<8, m=(y&7)<<20;
      for(let i=0;i<16;i++){ out[o++]=lut[b|tex[m|((vi>>6)&0xffc00)|((ui>>16)&1023)]!]!; ui=(ui+du)|0; vi=(vi+dv)|0; }
    }
  }
}
for(let i=0;i<30;i++)ground(i,out);
let c0=process.cpuUsage();for(let i=0;i<100;i++)ground(i,out);let c=process.cpuUsage(c0);console.log('ground 720p us',(c.user+c.system)/100);
process.exit(0);
