import { CircleArrowUp, LifeBuoy } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { denied, info } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { download, fetchFile } from '../../parts/files.ts';
import { FileDrop } from '../../parts/form/file-drop.tsx';
import { upload } from '../../parts/form/upload.ts';
import { Asked, Button, Card, ErrorNote, Note, Progress } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

const POLL_MS = 2000;

/** What version runs, another one from a file, and what one sends to somebody who helps. */
export function UpdateTab(): JSX.Element {
  const text = t.node.update;
  const act = useAct();
  return (
    <div class="page">
      <Version />
      <Card title={text.support} icon={LifeBuoy}>
        <p class="hint">{text.supportHint}</p>
        <ErrorNote error={act.error} />
        <div class="row">
          <Button
            row="support-bundle.get"
            explain
            busy={act.busy}
            onClick={() => void act.run(async () => fetchFile('support-bundle.get', 'svc-support.zip'))}
          >
            {text.bundle}
          </Button>
          <Button
            row="logs.export.get"
            busy={act.busy}
            onClick={() => void act.run(async () => download('logs.export.get', 'svc-log.ndjson'))}
          >
            {text.logs}
          </Button>
        </div>
      </Card>
    </div>
  );
}

type Status = Answer<'system.update.get'>;

function Version(): JSX.Element {
  const text = t.node.update;
  const api = useAsk('version.get').data;
  const asked = useAsk('system.update.get', {}, POLL_MS);
  const { data: status, error, reload } = asked;
  const running = status?.running ?? api?.agent_version ?? info.value?.version ?? t.app.none;
  const working = status !== null && WORKING.has(status.step);
  const closed = denied('system.update.post');
  return (
    <Card title={text.title} icon={CircleArrowUp}>
      <p>{text.running({ version: running, api: api?.api_version ?? t.app.none })}</p>
      {status?.previous == null ? null : <p class="hint">{text.previous({ version: status.previous })}</p>}
      {working ? <Working status={status} away={error !== null} /> : <Asked of={asked} />}
      {status?.step === 'done' ? <Note tone="good">{text.done({ version: running })}</Note> : null}
      {status?.error == null || working ? null : (
        <Note tone={status.step === 'returned' ? 'warn' : 'bad'}>{status.error}</Note>
      )}
      {closed === null ? <Choose busy={working} onSent={reload} /> : <Note>{t.denied[closed]}</Note>}
    </Card>
  );
}

const WORKING: ReadonlySet<Status['step']> = new Set<Status['step']>([
  'verifying',
  'unpacking',
  'switching',
  'checking',
]);

/** The node is away for some seconds in between. */
function Working({ status, away }: { status: Status; away: boolean }): JSX.Element {
  const text = t.node.update;
  return (
    <>
      <Progress
        label={away ? text.restarting : text.steps[status.step]}
        value={away || status.percent === null ? null : status.percent / 100}
      />
      <p class="hint">{text.keepPower}</p>
    </>
  );
}

function Choose({ busy, onSent }: { busy: boolean; onSent: () => void }): JSX.Element {
  const [share, setShare] = useState<number | null>(null);
  const act = useAct();
  const text = t.node.update;
  const send = (file: File): void => {
    void act.run(async () => {
      setShare(0);
      try {
        await upload('system.update.post', {}, file, setShare);
      } finally {
        setShare(null);
      }
      onSent();
    });
  };
  return (
    <>
      <FileDrop disabled={busy || act.busy} onFile={send}>
        {text.drop}
      </FileDrop>
      <p class="hint">{text.hint}</p>
      {share === null ? null : (
        <Progress label={text.sending({ percent: Math.round(share * 100) })} value={share} />
      )}
      <ErrorNote error={act.error} />
    </>
  );
}
