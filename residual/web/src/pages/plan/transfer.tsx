import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { warningText } from '../../../../../shared/mission/warning.ts';
import type { Home } from '../../../../../shared/mission/wpl.ts';
import { MISSION_PARTS } from '../../../../../shared/schemas/mission-item.ts';
import { call, Refused } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { armed } from '../../api/telemetry.ts';
import { saveText } from '../../parts/files.ts';
import { Button, Card, Dialog, ErrorNote, HoldButton, Note, Progress } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { listsIn, planText, waypointText } from './files.ts';
import type { Part } from './list.ts';
import { DELETE, faultOf, PUT, read, type Sketch } from './sketch.ts';

interface Underway {
  readonly label: string;
  readonly value: number | null;
}

/** The plan between this page, the vehicle and files. */
export function Transfer({
  sketch,
  home,
  firmware,
}: {
  sketch: Sketch;
  home: Home | null;
  firmware: string | null;
}): JSX.Element {
  const { busy, error, run, clear } = useAct();
  const [underway, setUnderway] = useState<Underway | null>(null);
  const [question, setQuestion] = useState<{ parts: readonly Part[]; warnings: readonly string[] } | null>(
    null,
  );
  /** What the newest upload was warned of. */
  const [otherwise, setOtherwise] = useState<readonly string[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const part = sketch.part.value;
  const pending = sketch.pending.value;
  const known = MISSION_PARTS.some((each) => sketch.held.value[each] !== null);
  const progress =
    (label: string) =>
    ({ done, total }: { done: number; total: number | null }): void =>
      setUnderway({ label, value: total === null || total === 0 ? null : done / total });
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    await run(work);
    setUnderway(null);
  };

  /** @throws Refused at the first part that is not taken; those before it are written. */
  const write = async (parts: readonly Part[]): Promise<void> => {
    setOtherwise([]);
    for (const each of parts) {
      const name = t.plan.parts[each];
      const label = t.plan.uploading(name);
      setUnderway({ label, value: null });
      const body = { items: [...sketch.lists.value[each]] };
      const { items, count, warnings } = await refusing(sketch, each, async () =>
        call(PUT[each], { body, onProgress: progress(label) }),
      );
      sketch.heldIs(each, items, true);
      setOtherwise((before) => [...before, ...warnings.map(warningText)]);
      say(t.plan.uploaded(name, count), 'good');
    }
  };
  const send = async (parts: readonly Part[]): Promise<void> => {
    setQuestion(null);
    await act(async () => write(parts));
  };
  /** The node checks first, without sending anything; only what may be meant otherwise is asked about. */
  const upload = async (): Promise<void> =>
    act(async () => {
      const parts = pending;
      const warnings = parts.flatMap((each) =>
        sketch.lists.value[each].length === 0 ? [t.plan.emptyPart(t.plan.parts[each])] : [],
      );
      if (armed.value === true || armed.value === 'unknown') warnings.push(t.plan.armed);
      for (const each of parts) {
        const checked = await refusing(sketch, each, async () =>
          call(PUT[each], { query: { dry_run: '1' }, body: { items: [...sketch.lists.value[each]] } }),
        );
        warnings.push(...checked.warnings.map(warningText));
      }
      if (warnings.length > 0) setQuestion({ parts, warnings });
      else await write(parts);
    });
  const open = async (file: File): Promise<void> =>
    act(async () => {
      const { lists, warnings } = await listsIn(file);
      for (const each of MISSION_PARTS) {
        const items = lists[each];
        if (items !== undefined) sketch.change(items, each);
      }
      sketch.chosen.value = null;
      sketch.view.value = null;
      const counts = MISSION_PARTS.flatMap((each) =>
        lists[each] === undefined ? [] : [t.plan.count(t.plan.parts[each], lists[each].length)],
      );
      say(
        [t.plan.opened(file.name, counts.join(', ')), ...warnings].join(' '),
        warnings.length > 0 ? 'warn' : 'good',
      );
    });

  const why =
    sketch.faults.value.some(({ index }) => index !== null) && sketch.refused.value === null
      ? t.plan.correctFirst
      : pending.length === 0
        ? t.plan.nothingToSend
        : null;
  return (
    <Card title={t.plan.vehicleCard}>
      {!known ? (
        <Note>{t.plan.notReadYet}</Note>
      ) : pending.length === 0 ? (
        <Note tone="good">{t.plan.sameAsVehicle}</Note>
      ) : (
        <Note tone="warn">{t.plan.differs(pending.map((each) => t.plan.parts[each]).join(', '))}</Note>
      )}
      {underway === null ? null : <Progress {...underway} />}
      <ErrorNote error={error} />
      {otherwise.length === 0 ? null : (
        <Note tone="warn">
          <h3>{t.plan.uploadedWith}</h3>
          <ul>
            {otherwise.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Note>
      )}
      <div class="row">
        <Button kind="primary" row={PUT[part]} explain busy={busy} why={why} onClick={() => void upload()}>
          {t.plan.upload}
        </Button>
        <Button
          row="mission.get"
          busy={busy}
          onClick={() =>
            void act(async () => {
              const problem = await read(sketch, true, progress(t.plan.reading));
              if (problem !== null) say(problem, 'warn');
            })
          }
        >
          {t.plan.readAgain}
        </Button>
        {known && pending.length > 0 ? (
          <Button
            onClick={() => {
              clear();
              sketch.discard();
            }}
          >
            {t.plan.discard}
          </Button>
        ) : null}
      </div>
      <div class="row files">
        <input
          ref={picker}
          type="file"
          class="visually-hidden"
          tabIndex={-1}
          aria-label={t.plan.open}
          accept=".plan,.waypoints,.txt,.wpl,.mission,application/json,text/plain"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file !== undefined) void open(file);
            event.currentTarget.value = '';
          }}
        />
        <Button onClick={() => picker.current?.click()}>{t.plan.open}</Button>
        <Button onClick={() => saveText(planText(sketch, home, firmware), 'mission.plan')}>
          {t.plan.savePlan}
        </Button>
        <Button onClick={() => saveText(waypointText(sketch, home), 'mission.waypoints', 'text/plain')}>
          {t.plan.saveWaypoints}
        </Button>
      </div>
      <p class="hint">{t.plan.openHint}</p>
      {may(DELETE[part]) ? (
        <HoldButton
          kind="plain"
          row={DELETE[part]}
          busy={busy}
          onConfirm={() =>
            void act(async () => {
              await call(DELETE[part], { onProgress: progress(t.plan.uploading(t.plan.parts[part])) });
              sketch.heldIs(part, [], true);
              say(t.plan.cleared(t.plan.parts[part]), 'good');
            })
          }
        >
          {t.plan.clear(t.plan.parts[part])}
        </HoldButton>
      ) : null}
      <Dialog title={t.plan.question} open={question !== null} onClose={() => setQuestion(null)}>
        <ul>
          {question?.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
        <div class="row">
          <Button kind="primary" onClick={() => void send(question?.parts ?? [])}>
            {t.plan.uploadAnyway}
          </Button>
          <Button onClick={() => setQuestion(null)}>{t.app.cancel}</Button>
        </div>
      </Dialog>
    </Card>
  );
}

/** What is refused is marked at its item. @throws Refused */
async function refusing<T>(sketch: Sketch, part: Part, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const fault = faultOf(part, error);
    if (fault.index !== null) {
      sketch.refused.value = fault;
      sketch.show(part, fault.index);
    }
    // After a refusal in the middle the vehicle may hold something else than before.
    const held = error.extras['held'];
    if (typeof held === 'object' && held !== null && 'items' in held && Array.isArray(held.items))
      sketch.heldIs(part, held.items);
    throw error;
  }
}
