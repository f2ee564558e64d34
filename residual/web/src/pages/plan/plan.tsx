import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { recordOf } from '../../../../../shared/member.ts';
import { MISSION_PARTS } from '../../../../../shared/schemas/mission-item.ts';
import { Refused } from '../../api/client.ts';
import { fresh, newest } from '../../api/telemetry.ts';
import { viewOf } from '../../map/projection.ts';
import { number, span } from '../../parts/format.ts';
import { Button, Card, Note, Stat, Tabs } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { AddItem, ItemTable } from './item-table.tsx';
import { isEnd, isSomewhere, type Part, placeOf } from './list.ts';
import { NumberInput } from './number-input.tsx';
import css from './plan.module.css';
import { PlanMap } from './plan-map.tsx';
import { read, type Sketch, sketchOf } from './sketch.ts';
import { totalsOf } from './totals.ts';
import { Transfer } from './transfer.tsx';

const TAKEOFFS: readonly number[] = [22, 84];
// About the map's size; what it is exactly does not matter.
const FIT = { width: 420, height: 320 };

/** Mission, fence and rally points: drawn, checked, sent, kept in files. */
export default function Plan(): JSX.Element {
  const sketch = sketchOf();
  const home = useHome();
  const [adds, setAdds] = useState(true);
  const problem = useFirstRead(sketch);
  const part = sketch.part.value;
  const totals = totalsOf(sketch.lists.value.mission, home, sketch.speed.value);
  const fit = (): void => {
    const places = MISSION_PARTS.flatMap((each) => sketch.lists.value[each].filter(isSomewhere).map(placeOf));
    const { lat, lon } = newest.value?.position ?? {};
    if (typeof lat === 'number' && typeof lon === 'number' && places.length === 0) places.push({ lat, lon });
    const view = viewOf(home === null ? places : [...places, home], FIT.width, FIT.height);
    if (view !== null) sketch.view.value = view;
  };
  const isPlaced = home !== null || MISSION_PARTS.some((each) => sketch.lists.value[each].some(isSomewhere));
  useEffect(() => {
    if (sketch.view.value === null && isPlaced) fit();
  }, [sketch.view.value === null, isPlaced]);
  const legs = part === 'mission' ? totals : { ...totals, legs: [] };
  return (
    <div class={`page ${css['plan']}`}>
      <section class={css['plan-map']} aria-label={t.app.page.plan}>
        <PlanMap sketch={sketch} home={home} adds={adds} />
        <div class={`row ${css['under-map']}`}>
          <label class="check">
            <input
              type="checkbox"
              checked={adds}
              onChange={(event) => setAdds(event.currentTarget.checked)}
            />{' '}
            {t.plan.onMap}
          </label>
          <Button onClick={fit}>{t.plan.showAll}</Button>
        </div>
      </section>
      <div class={css['plan-side']}>
        <section class="card">
          <Tabs<Part>
            label={t.plan.partsLabel}
            chosen={part}
            onChoose={(next) => sketch.show(next)}
            tabs={MISSION_PARTS.map((id) => {
              const count = sketch.lists.value[id].length;
              const star = sketch.pending.value.includes(id) ? ' •' : '';
              return { id, name: `${t.plan.parts[id]}${count === 0 ? '' : ` ${count}`}${star}` };
            })}
          />
          <ItemTable sketch={sketch} totals={legs} />
          <AddItem sketch={sketch} />
        </section>
        {problem === null ? null : <Note tone="warn">{problem}</Note>}
        <Transfer sketch={sketch} home={home} firmware={firmware()} />
        <Card title={t.plan.figuresCard}>
          <Figures sketch={sketch} totals={totals} />
        </Card>
      </div>
    </div>
  );
}

function Figures({ sketch, totals }: { sketch: Sketch; totals: ReturnType<typeof totalsOf> }): JSX.Element {
  const { mission } = sketch.lists.value;
  const { distance, seconds, highest, highestAboveSea } = totals;
  const [first] = mission.filter(isSomewhereOrTakeoff);
  const last = mission.at(-1);
  const notes = [
    ...(first !== undefined && !TAKEOFFS.includes(first.command) ? [t.plan.noTakeoff] : []),
    ...(last !== undefined && !isEnd(last) ? [t.plan.noEnd] : []),
    ...sketch.warnings.value,
  ];
  return (
    <>
      <dl class="stats">
        <Stat
          label={t.plan.figures.distance}
          value={distance >= 10_000 ? number(distance / 1000, 1) : number(distance)}
          unit={distance >= 10_000 ? 'km' : 'm'}
        />
        <Stat label={t.plan.figures.time} value={span(seconds)} />
        <Stat label={t.plan.figures.highest} value={highest === null ? null : number(highest)} unit="m" />
        {highestAboveSea === null ? null : (
          <Stat label={t.plan.figures.highestSea} value={number(highestAboveSea)} unit="m" />
        )}
      </dl>
      <NumberInput
        label={t.plan.speed}
        value={sketch.speed.value}
        hint={t.plan.estimate}
        onChange={(speed) => {
          if (speed > 0) sketch.speed.value = speed;
        }}
      />
      {notes.length === 0 ? null : (
        <Note tone="warn">
          <h3>{t.plan.checks}</h3>
          <ul>
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Note>
      )}
    </>
  );
}

function isSomewhereOrTakeoff(item: Parameters<typeof isSomewhere>[0]): boolean {
  return isSomewhere(item) || TAKEOFFS.includes(item.command);
}

/** Where the vehicle says that its home is; it does not move, so its age does not matter. */
function useHome(): { lat: number; lon: number; alt: number } | null {
  // The schema's type keeps the members that are always there.
  const { lat, lon, alt_msl: alt } = recordOf(newest.value?.['home']);
  return typeof lat === 'number' && typeof lon === 'number' && typeof alt === 'number'
    ? { lat, lon, alt }
    : null;
}

const PX4 = 12;

function firmware(): string | null {
  const autopilot = newest.value?.['autopilot'] ?? null;
  return typeof autopilot !== 'number' ? null : autopilot === PX4 ? 'px4' : 'ardupilot';
}

/** What the vehicle holds, when the page is opened. @returns why that is not known */
function useFirstRead(sketch: Sketch): string | null {
  const [problem, setProblem] = useState<string | null>(null);
  const alive = fresh('heartbeat', () => true) === true;
  useEffect(() => {
    // Once more when a vehicle comes; not when one is lost.
    if (!alive && sketch.held.value.mission !== null) return;
    read(sketch, false, () => undefined).then(setProblem, (error: unknown) => {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    });
  }, [sketch, alive]);
  return problem;
}
