import { Download, Lock, QrCode, Smartphone } from 'lucide';
import type { JSX } from 'preact';
import { shownFingerprint } from '../../../../../shared/certificates/fingerprint.ts';
import { openSecurely } from '../../api/handover.ts';
import type { Answer } from '../../api/rows.ts';
import { moment } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote, Icon, Note, Unfold } from '../../parts/parts.tsx';
import { Qr } from '../../parts/qr.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';

const CERTIFICATE = '/ca.crt';
const LOOPBACK = /^(?:localhost|127\.|\[?::1)/;

/** Whether this page is by HTTPS, and the way there. */
export function SecureSummary(): JSX.Element {
  const { data } = useAsk('tls.get', { here: true });
  return (
    <>
      <Standing />
      {data?.port == null ? null : <Move port={data.port} />}
    </>
  );
}

/** Whether this page is by HTTPS, how to trust the node's certificate, and the way there. Of the node that serves the page. */
export function Secure(): JSX.Element {
  const asked = useAsk('tls.get', { here: true });
  const { data } = asked;
  const text = t.access.secure;
  return (
    <Card title={text.title} icon={Lock} wide>
      <Standing />
      <Asked of={asked} />
      {data === null ? null : (
        <>
          {data.problem === null ? null : <Note tone="warn">{data.problem}</Note>}
          {data.port === null ? <Note>{text.off}</Note> : <Move port={data.port} />}
          {data.authority_sha256 === null ? null : <Trust tls={data} authority={data.authority_sha256} />}
        </>
      )}
    </Card>
  );
}

function Standing(): JSX.Element {
  const text = t.access.secure;
  const standing = location.protocol === 'https:' ? 'secure' : window.isSecureContext ? 'machine' : 'plain';
  return (
    <p>
      <Badge tone={standing === 'plain' ? 'warn' : 'good'}>{text.badge[standing]}</Badge>{' '}
      {text.standing[standing]}
    </p>
  );
}

function Move({ port }: { port: number }): JSX.Element | null {
  const act = useAct();
  const text = t.access.secure;
  if (location.protocol === 'https:') return null;
  return (
    <>
      <ErrorNote error={act.error} />
      <Button
        kind="primary"
        icon={Lock}
        busy={act.busy}
        onClick={() => void act.run(async () => openSecurely(port))}
      >
        {text.open}
      </Button>
      <p class="hint">{text.openHint}</p>
    </>
  );
}

function Trust({ tls, authority }: { tls: Answer<'tls.get'>; authority: string }): JSX.Element {
  const text = t.access.secure;
  return (
    <div>
      <p>{text.trust}</p>
      <p>
        {text.fingerprint} <code>{shownFingerprint(authority)}</code>
      </p>
      <p class="hint">
        {text.until({ authority: moment(tls.authority_not_after), leaf: moment(tls.not_after) })}
      </p>
      <p>
        <a class="button plain" href={CERTIFICATE}>
          <Icon of={Download} /> {text.download}
        </a>
      </p>
      <Unfold title={text.qr} icon={QrCode}>
        <Qr text={addressFor(tls.names)} label={text.qrLabel} />
      </Unfold>
      <Unfold title={text.steps} icon={Smartphone}>
        <dl class={css['steps']}>
          {text.systems.map(({ name, how }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{how}</dd>
            </div>
          ))}
        </dl>
      </Unfold>
    </div>
  );
}

/** Where a phone finds the certificate: of a page on the node itself, by a name that others can reach. */
function addressFor(names: readonly string[]): string {
  const url = new URL(CERTIFICATE, location.href);
  const reachable = names.find((name) => !LOOPBACK.test(name));
  if (LOOPBACK.test(url.hostname) && reachable !== undefined)
    url.hostname = reachable.includes(':') ? `[${reachable}]` : reachable;
  return url.href;
}
