import { decided, MATRIX_ROWS } from './matrix.ts';
import { ADDRESSES, CREDENTIALS } from './oracle.ts';

const SHORT: Readonly<Record<string, string>> = {
  pass: 'yes',
  E_NOT_IMPLEMENTED: '501',
  E_UNAUTHENTICATED: '401',
  E_SCOPE: '403 scope',
  E_RELAY_FORBIDDEN: '403 relay',
  E_REMOTE: '403 remote',
  E_UNPAIRED: '403 unpaired',
  E_TLS_REQUIRED: '403 tls',
};

/** Who gets what on which route, as decide() answers: tab separated, a head and a line a route. */
export function matrixText(): string {
  const head = [
    'method',
    'path',
    ...CREDENTIALS.map((name) => `paired: ${name}`),
    ...ADDRESSES.map((name) => `unpaired: from ${name}`),
  ];
  const lines = MATRIX_ROWS.map((row) =>
    [
      row.method,
      row.path,
      // While the node is paired only `onbox` depends on where the caller sits.
      ...CREDENTIALS.map((credential) =>
        decided(row, credential, credential === 'onbox' ? 'loopback' : 'lan', true),
      ),
      ...ADDRESSES.map((from) => decided(row, 'none', from, false)),
    ]
      .map((cell) => SHORT[cell] ?? cell)
      .join('\t'),
  );
  return `${head.join('\t')}\n${lines.join('\n')}\n`;
}
