import type { JSX } from 'preact';
import { denied, info } from '../../api/node.ts';
import { download, fetchFile } from '../../parts/files.ts';
import { Button, Card, ErrorNote, Note } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

/** What version runs, and what one sends to somebody who helps. */
export function UpdateTab(): JSX.Element {
  const text = t.node.update;
  const version = useAsk('version.get').data;
  const act = useAct();
  const closed = denied('system.update.post');
  return (
    <div class="page">
      <Card title={text.title}>
        <p>
          {text.running(
            version?.agent_version ?? info.value?.version ?? t.app.none,
            version?.api_version ?? t.app.none,
          )}
        </p>
        {closed === null ? null : <Note>{closed === 'not-built' ? text.byPackage : t.denied[closed]}</Note>}
      </Card>
      <Card title={text.support}>
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
