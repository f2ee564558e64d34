import { expect } from 'chai';
import {
  FORMATS,
  parseHostPort,
  parseMavlinkEndpoint,
  parseMavlinkSource,
  parseVideoOutput,
  parseVideoSource,
} from '../../shared/config/addresses.ts';

describe('the addresses of the config', () => {
  it('are read in all their forms', () => {
    expect(parseMavlinkSource('tcp:127.0.0.1:5762')).to.deep.equal({
      kind: 'tcp',
      host: '127.0.0.1',
      port: 5762,
    });
    expect(parseMavlinkSource('tcp:[::1]:5762')).to.deep.equal({ kind: 'tcp', host: '::1', port: 5762 });
    expect(parseMavlinkSource('udpout:drone.local:1')).to.deep.include({ host: 'drone.local', port: 1 });
    const serial = { kind: 'serial', path: '/dev/ttyACM0', baud: 921_600 };
    expect(parseMavlinkSource('serial:/dev/ttyACM0:921600')).to.deep.equal(serial);
    expect(parseMavlinkSource('sim')).to.deep.equal({ kind: 'sim' });
    expect(parseMavlinkEndpoint('udp:127.0.0.1:14550')).to.deep.include({ port: 14_550, force: false });
    expect(parseMavlinkEndpoint('tcp:[::1]:5790?force=1')).to.deep.include({ host: '::1', force: true });
    expect(parseVideoSource('rtp:0.0.0.0:5600')).to.deep.equal({ kind: 'rtp', host: '0.0.0.0', port: 5600 });
    expect(parseVideoSource('rtsp://10.0.0.9:8554/live')).to.deep.include({ host: '10.0.0.9:8554' });
    expect(parseVideoSource('libcamera')).to.deep.equal({ kind: 'libcamera', index: 0 });
    expect(parseVideoSource('libcamera:1')).to.deep.equal({ kind: 'libcamera', index: 1 });
    expect(parseVideoSource('v4l2:/dev/video0')).to.deep.equal({ kind: 'v4l2', device: '/dev/video0' });
    const output = { kind: 'mpegts', host: 'gcs.local', port: 5000 };
    expect(parseVideoOutput('mpegts://gcs.local:5000')).to.deep.equal(output);
    expect(parseVideoOutput('rtp://[fd00::2]:5600')).to.deep.include({ kind: 'rtp', host: 'fd00::2' });
    expect(parseHostPort('[fe80::1]:5602')).to.deep.equal({ host: 'fe80::1', port: 5602 });
  });

  const wrong: Readonly<Record<keyof typeof FORMATS, readonly string[]>> = {
    'mavlink-source': [
      '',
      'auto:1',
      'tcp:host',
      'tcp:host:0',
      'tcp:host:70000',
      'udp:a b:1',
      'udp:[10.0.0.1]:1',
      'serial:ttyACM0:57600',
      'serial:/dev/ttyACM0:0',
      'serial:/dev/ttyACM0:9000000',
      'http://x:1',
    ],
    'mavlink-endpoint': [
      'auto',
      'udp:127.0.0.1',
      'tcp::0',
      'tcp:a:70000',
      'serial:/dev/ttyACM0:57600',
      'tcp:a:1?force=0',
    ],
    'video-source': [
      'camera',
      'rtp:0.0.0.0:70000',
      'rtp:drone.local:5600',
      'rtsp://u:p@10.0.0.9/live',
      'rtsp:///live',
      'libcamera:',
      'libcamera:-1',
      'libcamera:0 --output /x',
      'v4l2:video0',
    ],
    'video-output': [
      '',
      'udp://10.0.0.2:5600',
      'rtp:10.0.0.2:5600',
      'rtp://10.0.0.2',
      'rtp://10.0.0.2:0',
      'rtp://10.0.0.2:5600/',
      ' mpegts://10.0.0.2:5600',
    ],
    'host-port-or-empty': ['host', 'host:0', ':5602', 'a:b:c'],
    'ip-address': ['localhost', '10.0.0', '1.2.3.4:80'],
    'web-origin': ['*', 'http://a.example/', 'ftp://a.example', 'http://a.example:70000', 'a.example'],
  };
  for (const [format, texts] of Object.entries(wrong)) {
    it(`${format}: ${texts.join(' ')} -> refused`, () => {
      for (const text of texts)
        expect(FORMATS[format as keyof typeof FORMATS].fits(text), text).to.equal(false);
    });
  }
});
