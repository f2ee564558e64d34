import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { moment } from '../parts/format.ts';
import { Button, Card, Copyable, Dialog, ErrorNote, Note } from '../parts/parts.tsx';
import { Qr } from '../parts/qr.tsx';
import { useAct } from '../parts/use-ask.ts';
import type { Code } from './answers.ts';
import { ask } from './client.ts';
import { hub } from './words.ts';

/** A code with which one node joins the fleet; shown once. */
export function Enrol(): JSX.Element {
  const [made, setMade] = useState<Code | null>(null);
  const act = useAct();
  const text = hub.enrol;
  const make = async (): Promise<void> => setMade(await ask<Code>('/v1/codes', { method: 'POST', body: {} }));
  return (
    <div class="page">
      <Card title={text.title}>
        <p>{text.hint}</p>
        <ErrorNote error={act.error} />
        <Button kind="primary" busy={act.busy} onClick={() => void act.run(make)}>
          {text.make}
        </Button>
      </Card>
      <Dialog title={text.made} open={made !== null} onClose={() => setMade(null)}>
        {made === null ? null : (
          <>
            <Note tone="warn">{text.once(moment(made.expires_at))}</Note>
            <Copyable label={text.code} text={made.code} />
            <Qr text={made.code} label={text.qr} />
            <p>{text.command}</p>
            {location.protocol === 'https:' ? null : <p class="hint">{text.local}</p>}
            <Copyable label={text.command} text={`svc fleet enroll ${location.origin} ${made.code}`} />
          </>
        )}
      </Dialog>
    </div>
  );
}
