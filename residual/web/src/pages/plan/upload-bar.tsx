import { Navigation, Upload } from 'lucide';
import type { JSX } from 'preact';
import { may } from '../../api/node.ts';
import { armed } from '../../api/telemetry.ts';
import { go } from '../../app/route.ts';
import { askForSheet } from '../../commands/sheet-name.ts';
import { Button, Dialog, ErrorNote, Note, Progress } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import { PUT, type Sketch } from './sketch.ts';
import type { Transfer } from './use-transfer.ts';

/** What comes next: to send the plan, or to fly what the vehicle has. */
export function UploadButton({ sketch, transfer }: { sketch: Sketch; transfer: Transfer }): JSX.Element {
  const isThere =
    transfer.known && sketch.pending.value.length === 0 && sketch.lists.value.mission.length > 0;
  if (isThere && armed.value === false && may('command.post'))
    return (
      <Button
        kind="primary"
        icon={Navigation}
        onClick={() => {
          askForSheet('mission');
          go('fly');
        }}
      >
        {planWords.fly}
      </Button>
    );
  return (
    <Button
      kind="primary"
      icon={Upload}
      row={PUT[sketch.part.value]}
      explain
      busy={transfer.busy}
      why={transfer.why}
      onClick={transfer.upload}
    >
      {planWords.upload}
    </Button>
  );
}

/** Whether the vehicle has the plan, how far an upload is, what it was warned of. */
export function UploadState({ sketch, transfer }: { sketch: Sketch; transfer: Transfer }): JSX.Element {
  const pending = sketch.pending.value;
  const { known, underway, error, otherwise, question } = transfer;
  return (
    <>
      <p role="status" class={`${css['state']}${pending.length > 0 ? ' warn' : ''}`}>
        {!known
          ? planWords.notReadYet
          : pending.length === 0
            ? planWords.sameAsVehicle
            : planWords.differs({ parts: pending.map((each) => planWords.parts[each]).join(', ') })}
      </p>
      {underway === null ? null : <Progress {...underway} />}
      <ErrorNote error={error} />
      {otherwise.length === 0 ? null : (
        <Note tone="warn">
          <h3>{planWords.uploadedWith}</h3>
          <ul>
            {otherwise.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Note>
      )}
      <Dialog title={planWords.question} open={question !== null} onClose={() => transfer.answer(false)}>
        <ul>
          {question?.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
        <div class="row">
          <Button kind="primary" onClick={() => transfer.answer(true)}>
            {planWords.uploadAnyway}
          </Button>
          <Button onClick={() => transfer.answer(false)}>{t.app.cancel}</Button>
        </div>
      </Dialog>
    </>
  );
}
