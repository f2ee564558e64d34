import { shownFingerprint } from '../../shared/certificates/fingerprint.ts';
import { requestCommand } from '../cli/request-command.ts';
import NodeNameCommand from './node/name.ts';

export default {
  'node:name': NodeNameCommand,
  'node:fingerprint': requestCommand('GET /api/tls', {
    summary: 'Show the fingerprint by which other machines know the node.',
    description:
      'It is the SHA-256 of its certificate authority: the first 32 digits to compare, all 64 for --fingerprint.',
    examples: ['node fingerprint'],
    *lines({ authority_sha256: sha256, problem }) {
      if (sha256 !== null) yield* [shownFingerprint(sha256), sha256];
      else
        yield "It has no certificate authority of its own: HTTPS is off, or the certificate is an operator's.";
      if (problem !== null) yield `HTTPS is not served as it should be: ${problem}`;
    },
  }),
};
