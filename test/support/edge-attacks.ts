/** Requests that every edge of ours refuses in the same way: a node's and a hub's. */
export interface EdgeTarget {
  /** A path that answers GET with 200 to whoever shows the credential. */
  readonly get: string;
  /** One that takes a JSON body by POST. */
  readonly post: string;
  /** Header lines. */
  readonly credential: string;
  readonly wrongCredential: string;
  /** The largest body of `post`, bytes. */
  readonly maxBody: number;
}

interface Attack {
  readonly name: string;
  readonly bytes: (target: EdgeTarget) => string;
  readonly status: number;
  readonly code: string;
}

const HOST = 'Host: localhost\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';

const malformed = (name: string, bytes: Attack['bytes']): Attack => ({
  name,
  bytes,
  status: 400,
  code: 'E_BAD_REQUEST',
});
const target = (name: string, bytes: (path: string) => string): Attack => ({
  name,
  bytes: ({ get, credential }) => `GET ${bytes(get)} HTTP/1.1\r\n${HOST}${credential}\r\n`,
  status: 400,
  code: 'E_BAD_PATH',
});
const hosts = (name: string, lines: string): Attack =>
  malformed(name, ({ get, credential }) => `GET ${get} HTTP/1.1\r\n${lines}${credential}\r\n`);
const post = ({ post: path, credential }: EdgeTarget, rest: string): string =>
  `POST ${path} HTTP/1.1\r\n${HOST}${credential}${JSON_TYPE}${rest}`;

export const EDGE_ATTACKS: readonly Attack[] = [
  malformed('Content-Length beside Transfer-Encoding', (to) =>
    post(to, 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
  ),
  malformed('two Content-Lengths', (to) => post(to, 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}')),
  malformed('chunked, identity', (to) => post(to, 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n')),
  malformed('a folded header', ({ get }) => `GET ${get} HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\n\r\n`),
  malformed('a NUL in a value', ({ get }) => `GET ${get} HTTP/1.1\r\n${HOST}X-A: b\0c\r\n\r\n`),
  malformed('a space before the colon', ({ get }) => `GET ${get} HTTP/1.1\r\n${HOST}X-A : b\r\n\r\n`),
  malformed('no HTTP at all', () => 'hello\r\n\r\n'),
  malformed(
    'a PROXY header of somebody who is no balancer',
    ({ get }) => `PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\nGET ${get} HTTP/1.1\r\n${HOST}\r\n`,
  ),
  malformed('a binary one', () => '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\0\0\x01\x0a\0\0\x02\0\x01\0\x02'),
  hosts('no Host', ''),
  hosts('a second Host', `${HOST}Host: evil\r\n`),
  hosts('the same Host twice', HOST + HOST),
  hosts('a Host with a user', 'Host: user@localhost\r\n'),
  hosts('a Host with port 0', 'Host: localhost:0\r\n'),
  target('the absolute form', (path) => `http://evil${path}`),
  target('two slashes', (path) => `/${path}`),
  target('a slash at the end', (path) => `${path}/`),
  target('an unneeded encoding', (path) =>
    path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`),
  ),
  target('dots', (path) => `/x/..${path}`),
  target('encoded dots', (path) => `/x/%2e%2e${path}`),
  target('a semicolon', (path) => `${path};a=b`),
  target('a backslash', (path) => `${path}\\x`),
  target('a fragment', (path) => `${path}#x`),
  target('a NUL, encoded', (path) => `${path}/%00`),
  target('a query with a bracket', (path) => `${path}?a[]=1`),
  {
    name: 'an asterisk',
    bytes: ({ credential }) => `OPTIONS * HTTP/1.1\r\n${HOST}${credential}\r\n`,
    status: 400,
    code: 'E_BAD_PATH',
  },
  {
    name: 'CONNECT',
    bytes: ({ credential }) => `CONNECT evil:80 HTTP/1.1\r\n${HOST}${credential}\r\n`,
    status: 405,
    code: 'E_METHOD',
  },
  {
    name: 'a credential twice',
    bytes: ({ get, credential }) => `GET ${get} HTTP/1.1\r\n${HOST}${credential}${credential}\r\n`,
    status: 401,
    code: 'E_UNAUTHENTICATED',
  },
  {
    name: 'a good credential after a wrong one',
    bytes: ({ get, credential, wrongCredential }) =>
      `GET ${get} HTTP/1.1\r\n${HOST}${wrongCredential}${credential}\r\n`,
    status: 401,
    code: 'E_UNAUTHENTICATED',
  },
  {
    name: 'headers beyond the limit',
    bytes: ({ get }) => `GET ${get} HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(20_000)}\r\n\r\n`,
    status: 431,
    code: 'E_HEADERS_TOO_LARGE',
  },
  {
    name: 'Expect: 100-continue with a bad credential',
    bytes: ({ post: path, wrongCredential }) =>
      `POST ${path} HTTP/1.1\r\n${HOST}${wrongCredential}${JSON_TYPE}Content-Length: 20\r\nExpect: 100-continue\r\n\r\n`,
    status: 401,
    code: 'E_UNAUTHENTICATED',
  },
  {
    name: 'an Expect that nobody knows',
    bytes: ({ get, credential }) => `GET ${get} HTTP/1.1\r\n${HOST}${credential}Expect: tea\r\n\r\n`,
    status: 400,
    code: 'E_BAD_REQUEST',
  },
  {
    name: 'a body over its limit without Content-Length',
    bytes: (to) => {
      const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
      return post(to, `Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(to.maxBody / 0x10000 + 1)}`);
    },
    status: 413,
    code: 'E_TOO_LARGE',
  },
  malformed('30 000 levels of JSON', (to) => post(to, `Content-Length: 30000\r\n\r\n${'['.repeat(30_000)}`)),
  malformed('__proto__', (to) => {
    const body = '{"__proto__":{"polluted":1}}';
    return post(to, `Content-Length: ${body.length}\r\n\r\n${body}`);
  }),
];
