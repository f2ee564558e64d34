import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { plainAddress } from '../../shared/auth/address.ts';
import { addressList, proxyHeaderOf, readProxyHeader } from '../../shared/http/edge/proxy-header.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const v2 = (rest: string): Buffer => hex(SIGNATURE + rest);

const port = fc.integer({ min: 0, max: 65_535 });
const textHeader = fc.oneof(
  fc
    .tuple(fc.ipV4(), fc.ipV4(), port, port)
    .map(([source, to, a, b]) => ({ source, text: `PROXY TCP4 ${source} ${to} ${a} ${b}\r\n` })),
  fc
    .tuple(fc.ipV6(), fc.ipV6(), port, port)
    .map(([source, to, a, b]) => ({ source, text: `PROXY TCP6 ${source} ${to} ${a} ${b}\r\n` }))
    .filter(({ text }) => text.length <= 107), // 2.1: the longest line
);
const binaryHeader = fc
  .tuple(fc.boolean(), fc.uint8Array({ minLength: 36, maxLength: 36 }), fc.uint8Array({ maxLength: 200 }))
  .map(([is6, addresses, more]) => {
    const body = Buffer.concat([addresses.subarray(0, is6 ? 36 : 12), more]);
    const head = Buffer.concat([v2(is6 ? '2121' : '2111'), Buffer.alloc(2)]);
    head.writeUInt16BE(body.length, 14);
    return { bytes: Buffer.concat([head, body]), first: [...addresses.subarray(0, is6 ? 16 : 4)], is6 };
  });

describe('the PROXY header of a connection', () => {
  const whole: readonly (readonly [name: string, bytes: Buffer, source: string | null])[] = [
    ['1, IPv4', Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 65535 443\r\n'), '192.0.2.1'],
    ['1, IPv6', Buffer.from('PROXY TCP6 2001:db8:0:0::1 ::1 1 443\r\n'), '2001:db8::1'],
    ['1, mapped', Buffer.from('PROXY TCP6 ::ffff:192.0.2.1 ::1 1 443\r\n'), '192.0.2.1'],
    ['1, of the balancer itself', Buffer.from('PROXY UNKNOWN\r\n'), null],
    ['1, unknown with more', Buffer.from('PROXY UNKNOWN ff:f ff:e 1 2\r\n'), null],
    ['2, IPv4', v2('21 11 000c c0000201 c0000202 ffff 01bb'), '192.0.2.1'],
    ['2, IPv6', v2(`21 21 0024 20010db8${'00'.repeat(11)}01 ${'00'.repeat(15)}01 ffff 01bb`), '2001:db8::1'],
    ['2, with more after the addresses', v2('21 11 0010 c0000201 c0000202 ffff 01bb 04000100'), '192.0.2.1'],
    ['2, of the balancer itself', v2('20 00 0000'), null],
    ['2, of the balancer itself, with addresses', v2('20 11 000c c0000201 c0000202 ffff 01bb'), null],
  ];
  for (const [name, bytes, source] of whole)
    it(`${name}: ${source}, and nothing of what follows`, () => {
      const expected = { kind: 'whole', bytes: bytes.length, source };
      expect(proxyHeaderOf(bytes)).to.deep.equal(expected);
      expect(proxyHeaderOf(Buffer.concat([bytes, Buffer.from('GET / HTTP/1.1')]))).to.deep.equal(expected);
      for (let end = 0; end < bytes.length; end++)
        expect(proxyHeaderOf(bytes.subarray(0, end)), `${end} bytes`).to.deep.equal({ kind: 'more' });
    });

  const wrong: readonly (readonly [name: string, bytes: Buffer])[] = [
    ['none', Buffer.from('GET / HTTP/1.1\r\n')],
    ['TLS', hex('160301')],
    ['lower case', Buffer.from('proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n')],
    ['two spaces', Buffer.from('PROXY  TCP4 192.0.2.1 192.0.2.2 1 2\r\n')],
    ['a space at the end', Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1 2 \r\n')],
    ['a port too many', Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n')],
    ['a port that is none', Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 65536 2\r\n')],
    ['a port with a zero before', Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n')],
    ['an address with a zero before', Buffer.from('PROXY TCP4 192.0.2.01 192.0.2.2 1 2\r\n')],
    ['IPv6 that calls itself IPv4', Buffer.from('PROXY TCP4 ::1 ::1 1 2\r\n')],
    ['IPv4 that calls itself IPv6', Buffer.from('PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n')],
    ['a zone', Buffer.from('PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n')],
    ['UDP', Buffer.from('PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n')],
    ['a bare line feed', Buffer.from(`PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n${'x'.repeat(107)}`)],
    ['a line without an end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(107)}`)],
    ['2, version 1', v2('11 11 000c c0000201 c0000202 ffff 01bb')],
    ['2, an unknown command', v2('22 11 000c c0000201 c0000202 ffff 01bb')],
    ['2, somebody without an address', v2('21 00 0000')],
    ['2, a Unix socket', v2(`21 31 00d8 ${'00'.repeat(216)}`)],
    ['2, UDP', v2('21 12 000c c0000201 c0000202 ffff 01bb')],
    ['2, addresses cut off', v2('21 11 000b c0000201 c0000202 ffff 01')],
    ['2, longer than 536 bytes', v2('21 11 0209')],
  ];
  for (const [name, bytes] of wrong)
    it(`${name}: refused`, () => expect(proxyHeaderOf(bytes).kind).to.equal('bad'));

  it('an IPv4 address behind six groups that are written out is read', () => {
    const source = '0000:0000:0000:0000:0000:ffff:192.168.100.100';
    expect(proxyHeaderOf(Buffer.from(`PROXY TCP6 ${source} ::1 1 2\r\n`))).to.include({
      source: '192.168.100.100',
    });
  });

  it('whatever is written is read, byte by byte too; any other bytes do no harm', () => {
    fc.assert(
      fc.property(textHeader, ({ source, text }) => {
        const found = proxyHeaderOf(Buffer.from(text));
        expect(found).to.include({ kind: 'whole', bytes: text.length });
        const read = found.kind === 'whole' ? (found.source ?? '') : '';
        const spelled = (address: string): string =>
          address.includes(':')
            ? plainAddress(new URL(`http://[${address}]`).hostname.slice(1, -1))
            : address;
        expect(spelled(read)).to.equal(spelled(source));
      }),
    );
    fc.assert(
      fc.property(binaryHeader, ({ bytes, first, is6 }) => {
        const found = proxyHeaderOf(bytes);
        expect(found).to.include({ kind: 'whole', bytes: bytes.length });
        if (!is6) expect(found).to.include({ source: first.join('.') });
        for (const end of [0, 1, 12, 15, 16, bytes.length - 1])
          expect(proxyHeaderOf(bytes.subarray(0, end)).kind).to.equal('more');
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), fc.boolean(), (noise, isSigned) => {
        const bytes = Buffer.concat([isSigned ? v2('') : Buffer.alloc(0), noise]);
        const found = proxyHeaderOf(bytes);
        if (found.kind === 'whole') expect(found.bytes).to.be.at.most(Math.min(bytes.length, 536));
        if (bytes.length >= 536) expect(found.kind).to.not.equal('more');
      }),
    );
  });

  it('what comes after it is left to others, also where it comes in pieces; one that is late, or ends, is an error', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: at } = server.address() as AddressInfo;
    const sent = async (...pieces: readonly Buffer[]) => {
      const client = connect({ port: at, host: '127.0.0.1', noDelay: true });
      const [socket] = await once(server, 'connection');
      const read = readProxyHeader(socket).then(
        async (source: string | null) => {
          const [rest] = await once(socket.setEncoding('latin1'), 'data');
          return `${source} ${rest}`;
        },
        (error: Error) => error.message,
      );
      for (const piece of pieces)
        if (piece.length === 0) client.end();
        else await new Promise((resolve) => client.write(piece, resolve));
      const result = await read;
      client.destroy();
      socket.destroy();
      return result;
    };
    const bytes = v2('21 11 000c c0000201 c0000202 ffff 01bb');
    const each = [...bytes, ...Buffer.from('GET')].map((byte) => Buffer.from([byte]));
    expect(await sent(Buffer.concat([bytes, Buffer.from('GET')]))).to.equal('192.0.2.1 GET');
    expect(await sent(bytes, Buffer.from('GET'))).to.equal('192.0.2.1 GET');
    expect(await sent(...each)).to.match(/^192\.0\.2\.1 G/);
    expect(await sent(Buffer.from('GET / HTTP'))).to.match(/does not begin/);
    expect(await sent(bytes.subarray(0, 20), Buffer.alloc(0))).to.match(/ended before/);
    expect(await sent(bytes.subarray(0, 20))).to.match(/within 1 s/);
    server.close();
  });

  it('balancers are addresses and networks; what is neither, or everybody, is refused', () => {
    const list = addressList(['10.0.0.5', '10.1.0.0/16', 'fd00::/8', '::1']);
    const has = (ip: string) => list.check(ip, ip.includes(':') ? 'ipv6' : 'ipv4');
    for (const ip of ['10.0.0.5', '10.1.255.1', 'fd12::1', '::1']) expect(has(ip), ip).to.equal(true);
    for (const ip of ['10.0.0.6', '10.2.0.1', 'fe80::1', '::2']) expect(has(ip), ip).to.equal(false);
    for (const text of [
      '0.0.0.0/0',
      '::/0',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0',
      'x',
      '10.0.0.0/8/8',
      '1::/129',
    ])
      expect(() => addressList([text]), text).to.throw(`${text} is no address and no network`);
  });
});
