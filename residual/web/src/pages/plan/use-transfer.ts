import { useState } from 'preact/hooks';
import { MAX_PATTERNS } from '../../../../../shared/mission/patterns/placed.ts';
import { warningText } from '../../../../../shared/mission/warning.ts';
import { MISSION_PARTS } from '../../../../../shared/schemas/mission-item.ts';
import { call, Refused } from '../../api/client.ts';
import { armed } from '../../api/telemetry.ts';
import { say } from '../../parts/toast.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { listsIn } from './files.ts';
import { shapesOf } from './import/geo-file.ts';
import type { FoundShapes } from './import/shapes-in.ts';
import type { Part } from './list.ts';
import { planWords } from './plan-words.ts';
import { DELETE, faultOf, PUT, read, type Sketch } from './sketch.ts';

interface Underway {
  readonly label: string;
  readonly value: number | null;
}

interface Question {
  readonly parts: readonly Part[];
  readonly warnings: readonly string[];
  /** It goes where `goto` may not, and is sent so once that is agreed. */
  readonly far: boolean;
}

export interface Transfer {
  readonly busy: boolean;
  readonly error: Refused | null;
  readonly underway: Underway | null;
  /** What must be answered before the upload. */
  readonly question: readonly string[] | null;
  /** What the newest upload was warned of. */
  readonly otherwise: readonly string[];
  /** Why nothing can be uploaded now. */
  readonly why: string | null;
  readonly known: boolean;
  readonly upload: () => void;
  readonly answer: (yes: boolean) => void;
  readonly readAgain: () => void;
  readonly discard: () => void;
  readonly clear: () => void;
  readonly open: (file: File) => void;
}

/** The plan between this page, the vehicle and files. @param onShapes a file of shapes was opened */
export function useTransfer(sketch: Sketch, onShapes: (name: string, found: FoundShapes) => void): Transfer {
  const { busy, error, run, clear } = useAct();
  const [underway, setUnderway] = useState<Underway | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const [otherwise, setOtherwise] = useState<readonly string[]>([]);
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
  const write = async (parts: readonly Part[], far: boolean): Promise<void> => {
    setOtherwise([]);
    for (const each of parts) {
      const name = planWords.parts[each];
      const label = planWords.uploading({ part: name });
      setUnderway({ label, value: null });
      const body = { items: [...sketch.lists.value[each]], ...(far ? { allow_far: true } : {}) };
      const { items, count, warnings } = await refusing(sketch, each, async () =>
        call(PUT[each], { body, onProgress: progress(label) }),
      );
      sketch.heldIs(each, items, true);
      setOtherwise((before) => [...before, ...warnings.map(warningText)]);
      say(planWords.uploaded({ part: name, count }), 'good');
    }
  };
  const send = async (parts: readonly Part[], far: boolean): Promise<void> => {
    setQuestion(null);
    await act(async () => {
      try {
        await write(parts, far);
      } catch (failed) {
        if (far || !(failed instanceof Refused) || failed.code !== 'E_TOO_FAR') throw failed;
        setQuestion({ parts, warnings: [failed.message], far: true }); // asked for by itself
      }
    });
  };
  /** The node checks first, without sending anything; only what may be meant otherwise is asked about. */
  const upload = async (): Promise<void> =>
    act(async () => {
      const parts = pending;
      const warnings = parts.flatMap((each) =>
        sketch.lists.value[each].length === 0 ? [planWords.emptyPart({ part: planWords.parts[each] })] : [],
      );
      if (armed.value === true || armed.value === 'unknown') warnings.push(planWords.armed);
      for (const each of parts) {
        const checked = await refusing(sketch, each, async () =>
          call(PUT[each], { query: { dry_run: '1' }, body: { items: [...sketch.lists.value[each]] } }),
        );
        warnings.push(...checked.warnings.map(warningText));
      }
      if (warnings.length > 0) setQuestion({ parts, warnings, far: false });
      else await write(parts, false);
    });
  const open = async (file: File): Promise<void> =>
    act(async () => {
      const found = await shapesOf(file);
      if (found !== null) {
        onShapes(file.name, found);
        return;
      }
      const { lists, patterns, warnings } = await listsIn(file);
      sketch.changeAll(lists, [...sketch.patterns, ...patterns].slice(-MAX_PATTERNS));
      sketch.show(sketch.part.value);
      sketch.view.value = null;
      const counts = MISSION_PARTS.flatMap((each) =>
        lists[each] === undefined
          ? []
          : [planWords.count({ part: planWords.parts[each], count: lists[each].length })],
      );
      say(
        [planWords.opened({ name: file.name, what: counts.join(', ') }), ...warnings].join(' '),
        warnings.length > 0 ? 'warn' : 'good',
      );
    });

  const why =
    sketch.faults.value.some(({ index }) => index !== null) && sketch.refused.value === null
      ? planWords.correctFirst
      : pending.length === 0
        ? '' // the line beside it says that the vehicle has it
        : null;
  return {
    busy,
    error,
    underway,
    question: question?.warnings ?? null,
    otherwise,
    why,
    known,
    upload: () => void upload(),
    answer: (yes) => {
      if (yes) void send(question?.parts ?? [], question?.far ?? false);
      else setQuestion(null);
    },
    readAgain: () =>
      void act(async () => {
        const problem = await read(sketch, true, progress(planWords.reading));
        if (problem !== null) say(problem, 'warn');
      }),
    discard: () => {
      clear();
      sketch.discard();
    },
    clear: () =>
      void act(async () => {
        await call(DELETE[part], {
          onProgress: progress(planWords.uploading({ part: planWords.parts[part] })),
        });
        sketch.heldIs(part, [], true);
        say(planWords.cleared({ part: planWords.parts[part] }), 'good');
      }),
    open: (file) => void open(file),
  };
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
