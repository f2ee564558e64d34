import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { publicJwk } from '../../shared/fleet/signed.ts';
import { readTrust } from '../../shared/plugins/signature.ts';
import {
  FORMATS,
  parseHostPort,
  parseIceUrl,
  parseMavlinkEndpoint,
  parseMavlinkSource,
  parseVideoOutput,
  parseVideoSource,
} from '../../shared/schemas/addresses.ts';
import { parsePublicKey } from '../../shared/update/minisign.ts';

/** All eight points of a small order, of those with another y below 2^255 also that, each with both signs. */
const SMALL_ORDER = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
].flatMap((hex) => {
  const plain = Buffer.from(hex, 'hex');
  const signed = Buffer.from(plain);
  signed.writeUInt8(signed.readUInt8(31) | 0x80, 31);
  return [plain.toString('base64url'), signed.toString('base64url')];
});

describe('the addresses of the config', () => {
  it('names and keys as people have them are taken', () => {
    for (const name of ['', 'Drone 7', 'Дрон-7', '無人機', 'Vögel & Söhne'])
      expect(FORMATS['shown-name'].fits(name), name).to.equal(true);
    const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    expect(FORMATS['ed25519-key'].fits(x)).to.equal(true);
    expect(FORMATS['fleet-operator'].fits(`alice ${x}`)).to.equal(true);
  });

  it('a key of a small order: none is taken, by whichever door', async () => {
    const zero = Buffer.alloc(32);
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), zero]);
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    expect(() => publicJwk(key)).to.throw('small order');
    const minisign = Buffer.concat([Buffer.from('Ed'), Buffer.alloc(8, 1), zero]).toString('base64');
    expect(() => parsePublicKey(`untrusted comment: x\n${minisign}\n`)).to.throw('small order');
    const folder = await mkdtemp(join(tmpdir(), 'svc-weak-key-'));
    try {
      await writeFile(join(folder, 'eve.pem'), key.export({ format: 'pem', type: 'spki' }));
      const { keys, problems } = await readTrust(folder);
      expect([keys.size, problems.join()]).to.deep.equal([
        0,
        `${join(folder, 'eve.pem')} is skipped: it is of a small order: anybody could sign for it`,
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

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
    expect(parseIceUrl('stun:a.example')).to.include({ kind: 'stun', port: 3478, transport: 'udp' });
    expect(parseIceUrl('turn:a.example:443?transport=tcp')).to.include({ port: 443, transport: 'tcp' });
    expect(parseIceUrl('turns:[fd00::2]')).to.include({ host: 'fd00::2', port: 5349, transport: 'tls' });
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
      'serial:/dev/../tmp/tty:57600',
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
      'v4l2:/dev/../etc/passwd',
      'v4l2:/dev/./video0',
      'v4l2:/dev//video0',
      'v4l2:/dev/video0/',
      'v4l2:/dev/..',
    ],
    'tile-url': [
      '',
      'tiles.example/{z}/{x}/{y}',
      'ftp://tiles.example/{z}/{x}/{y}',
      'https://tiles.example/{z}/{x}',
      'https://{z}.example/{x}/{y}/{z}x',
      'https://a{x}.example/{z}/{y}',
      'https://u:p@tiles.example/{z}/{x}/{y}',
      'https://tiles.example/{z}#{x}{y}',
      'https://tiles.example/{z}/{x}/{y}#a',
      'https:///{z}/{x}/{y}',
      'https://tiles.example/ {z}/{x}/{y}',
    ],
    'operator-id': ['FIN87astrdge12k8-xyz', 'x'.repeat(21), 'näme', 'a\nb', '\0'],
    'self-id': ['x'.repeat(24), 'Vermessung Süd', 'a\tb'],
    'place-or-empty': ['48.1', '91,0', '48.1,181', '48.1;11.5', '48.1,11.5,', 'NaN,0', '1e1,2', '48.1, 11.5'],
    'video-output': [
      '',
      'udp://10.0.0.2:5600',
      'rtp:10.0.0.2:5600',
      'rtp://10.0.0.2',
      'rtp://10.0.0.2:0',
      'rtp://10.0.0.2:5600/',
      ' mpegts://10.0.0.2:5600',
    ],
    'ice-url': [
      '',
      'turn:',
      'stun://a.example',
      'stun:a.example?transport=udp',
      'turn:a.example?transport=sctp',
      'turns:a.example?transport=udp',
      'turn:a.example:0',
      'turn:user@a.example',
      'turn:a.example>; rel="x',
      'http://a.example',
    ],
    'rtk-source': [
      '',
      'ntrip:host:2101',
      'tcp:host',
      'udp:host:1',
      'serial:/dev/../tmp/tty:57600',
      'http://x:1',
    ],
    'host-or-empty': ['http://x', 'a:1', '[::1]', 'a b', 'a\r\nHost: b', '::x'],
    'host-port-or-empty': ['host', 'host:0', ':5602', 'a:b:c'],
    'ip-address': ['localhost', '10.0.0', '1.2.3.4:80'],
    'ed25519-key': [...SMALL_ORDER, 'short'],
    'fleet-operator': SMALL_ORDER.map((x) => `eve ${x}`),
    'shown-name': [
      'a\u001b[2Jb',
      'a\u0000',
      'a\nb',
      'a\u2028b',
      'a\u0085b',
      'a\u202eb',
      'a\u2066b',
      'a\u200fb',
      'a\ud800b',
    ],
    'web-origin-or-empty': [
      '*',
      'https://s3.example/',
      'ftp://a.example',
      's3.example',
      'https://u:p@s3.example',
    ],
    'web-origin': ['*', 'http://a.example/', 'ftp://a.example', 'http://a.example:70000', 'a.example'],
  };
  for (const [format, texts] of Object.entries(wrong)) {
    it(`${format}: ${texts.map((text) => JSON.stringify(text)).join(' ')} -> refused`, () => {
      for (const text of texts)
        expect(FORMATS[format as keyof typeof FORMATS].fits(text), text).to.equal(false);
    });
  }
});
