import { expect } from 'chai';
import fc from 'fast-check';
import type { EdgeState } from '../../front/control/edge/decision.ts';
import { type AddressClass, isLifeline } from '../../shared/auth/address.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { type Ask, edgeState, judge, trusting, withKey } from '../support/edge.ts';

const REQUIRED = edgeState({ tls: { required: true, port: 8443 }, credentials: trusting() });
const UNPAIRED: EdgeState = { ...REQUIRED, pairing: { paired: false, keyHash: null } };
const HOST = (value: string) => ['Host', value] as const;

/** `pass`, `CODE`, or where it is sent. */
function told(ask: Ask, state = REQUIRED): string {
  const answer = judge(ask, state);
  if (answer.kind === 'redirect') return `${answer.status} ${answer.location}`;
  return answer.kind === 'refuse' ? answer.code : answer.kind;
}

describe('security.require_tls', () => {
  const status = { target: '/api/status', headers: [withKey] };
  const page = { target: '/' };
  const cases: readonly (readonly [why: string, ask: Ask, answer: string, state?: EdgeState])[] = [
    ['by HTTPS', { ...status, secure: true }, 'pass'],
    ['the key in the clear', status, 'E_TLS_REQUIRED'],
    ['public rows too', { target: '/healthz' }, 'E_TLS_REQUIRED'],
    ['what is not there', { target: '/nothing' }, 'E_TLS_REQUIRED'],
    ['a WebSocket', { target: '/api/telemetry/ws', upgrade: true, headers: [withKey] }, 'E_TLS_REQUIRED'],
    ['an upgrade of the page', { ...page, upgrade: true }, 'E_TLS_REQUIRED'],
    ['the page', page, '308 https://192.168.1.7:8443/'],
    ['the page, HEAD', { ...page, method: 'HEAD' }, '308 https://192.168.1.7:8443/'],
    ['a query stays', { target: '/assets/a.js?v=1' }, '308 https://192.168.1.7:8443/assets/a.js?v=1'],
    [
      'by the name that it was called',
      { ...page, headers: [HOST('SVC-a1b2c3.local:8080')] },
      '308 https://svc-a1b2c3.local:8443/',
    ],
    ['by IPv6', { ...page, headers: [HOST('[::1]:8080')] }, '308 https://[::1]:8443/'],
    ['never to a strange name', { ...page, headers: [HOST('evil.example')] }, 'E_TLS_REQUIRED'],
    ['a write to the page', { ...page, method: 'POST' }, 'E_TLS_REQUIRED'],
    ['a preflight of the page', { ...page, method: 'OPTIONS' }, 'E_TLS_REQUIRED'],
    ['this machine', { ...status, from: 'loopback' }, 'pass'],
    ['control.sock', { ...status, unix: true }, 'pass'],
    ['the relay is encrypted itself', { target: '/healthz', ground: 'gs' }, 'pass'],
    [
      'a header does not make it the relay',
      { ...status, headers: [withKey, ['x-svc-relayed', '1']] },
      'E_TLS_REQUIRED',
    ],
    ['the hotspot, once paired', { ...status, from: 'hotspot' }, 'E_TLS_REQUIRED'],
    ['the hotspot of a new node', { target: '/', from: 'hotspot' }, 'pass', UNPAIRED],
    ['its cable', { target: '/', from: 'link-local' }, 'pass', UNPAIRED],
    ['its LAN', { target: '/api/pairing/info' }, 'E_TLS_REQUIRED', UNPAIRED],
    [
      'no HTTPS: nothing goes in the clear, and no redirect to nowhere',
      page,
      'E_TLS_REQUIRED',
      { ...REQUIRED, tls: { required: true, port: null } },
    ],
    ['not asked for', status, 'pass', edgeState()],
  ];
  for (const [why, ask, answer, state] of cases)
    it(`${why} -> ${answer}`, () => expect(told(ask, state)).to.equal(answer));

  it('the refusal says where to ask instead', () => {
    const served = judge(status, REQUIRED);
    expect(served).to.deep.include({ rule: 'tls', extras: { tls_port: 8443 } });
    expect(JSON.stringify(served)).to.not.include('HTTPS is not running');
    const closed = judge(status, { ...REQUIRED, tls: { required: true, port: null } });
    expect(JSON.stringify(closed)).to.include('HTTPS is not running');
    expect(judge(page, REQUIRED)).to.include({ kind: 'redirect', rule: 'tls' });
  });

  it('nobody on another machine passes in the clear, whatever the row, the credential and the headers', () => {
    const headers = [
      withKey,
      ['x-forwarded-proto', 'https'],
      ['x-forwarded-ssl', 'on'],
      ['forwarded', 'proto=https'],
      ['x-svc-onbox', '1'],
      ['x-svc-relayed', '1'],
      ['upgrade-insecure-requests', '1'],
    ] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...ROWS),
        fc.subarray([...headers]),
        fc.constantFrom<AddressClass>('lan', 'remote', 'hotspot', 'usb', 'link-local'),
        fc.boolean(),
        ({ method, path }, sent, from, paired) => {
          const ask = {
            method: method === 'WS' || method === 'ANY' ? 'GET' : method,
            target: path.replaceAll(/\{\*?\w+\}/g, 'x'),
            upgrade: method === 'WS',
            headers: sent,
            from,
          };
          const state = paired ? REQUIRED : UNPAIRED;
          if (!paired && isLifeline(from)) return true;
          return judge(ask, state).kind !== 'pass';
        },
      ),
      { numRuns: 2000 },
    );
  });
});
