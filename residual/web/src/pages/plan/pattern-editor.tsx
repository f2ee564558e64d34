import { ChevronRight, Compass, Copy, RotateCw, Trash2, Ungroup } from 'lucide';
import type { JSX } from 'preact';
import { expand, type Unexpanded } from '../../../../../shared/mission/patterns/expand.ts';
import { bestAngle } from '../../../../../shared/mission/patterns/new-pattern.ts';
import type { Placed } from '../../../../../shared/mission/patterns/placed.ts';
import {
  cornersOf,
  leastCorners,
  type PatternSettings,
  withCorners,
} from '../../../../../shared/mission/patterns/settings.ts';
import { number } from '../../parts/format.ts';
import { Button, Note, Stat, Unfold } from '../../parts/parts.tsx';
import { CameraFields } from './camera-fields.tsx';
import { addPattern, changePattern, dissolvePattern } from './entries.ts';
import { removed } from './list.ts';
import { NumberInput } from './number-input.tsx';
import { Choice, Flag, Numbers } from './pattern-fields.tsx';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import type { Sketch } from './sketch.ts';

/** The settings of a pattern, and what comes of them. @param speed m/s, null: not known */
export function PatternEditor({
  sketch,
  placed,
  speed,
}: {
  readonly sketch: Sketch;
  readonly placed: Placed;
  readonly speed: number | null;
}): JSX.Element {
  const trial = sketch.trial.value;
  const settings = trial?.settings ?? placed.settings;
  const set = (next: PatternSettings): void => changePattern(sketch, placed, next);
  return (
    <div class={css['pattern']}>
      {trial === null ? null : <Note tone="bad">{wrongText(trial.wrong)}</Note>}
      {settings.kind === 'orbit' ? null : <CameraFields settings={settings} onChange={set} />}
      <OwnFields settings={settings} onChange={set} />
      <Outcome settings={placed.settings} speed={speed} />
      <CornerRow sketch={sketch} settings={settings} onChange={set} />
      <div class="row">
        <Button
          icon={Copy}
          onClick={() => {
            sketch.show('mission', placed.from);
            addPattern(sketch, { ...placed.settings });
          }}
        >
          {planWords.duplicate}
        </Button>
        <Button icon={Ungroup} onClick={() => dissolvePattern(sketch, placed)}>
          {planWords.dissolve}
        </Button>
        <Button
          icon={Trash2}
          onClick={() => {
            sketch.change(removed(sketch.lists.value.mission, placed.from, placed.items.length), 'mission');
            sketch.show('mission');
          }}
        >
          {planWords.remove}
        </Button>
      </div>
    </div>
  );
}

interface Edits<S extends PatternSettings> {
  readonly settings: S;
  readonly onChange: (settings: PatternSettings) => void;
}

function OwnFields({ settings, onChange }: Edits<PatternSettings>): JSX.Element {
  switch (settings.kind) {
    case 'survey':
      return (
        <>
          <div class={css['fields']}>
            <Numbers settings={settings} names={['angle', 'turnaround']} onChange={onChange} />
            <Button
              icon={Compass}
              onClick={() => onChange({ ...settings, angle: Math.round(bestAngle(settings.polygon)) })}
            >
              {planWords.settings.bestAngle}
            </Button>
            <EntryButton settings={settings} onChange={onChange} />
          </div>
          <Unfold title={planWords.settings.more}>
            <Above settings={settings} onChange={onChange} />
            <Flag settings={settings} name="crosshatch" onChange={onChange} />
            <Flag settings={settings} name="alternate" onChange={onChange} />
            <Flag settings={settings} name="photosInTurns" onChange={onChange} />
            <Flag settings={settings} name="hover" onChange={onChange} />
          </Unfold>
        </>
      );
    case 'corridor':
      return (
        <>
          <div class={css['fields']}>
            <Numbers settings={settings} names={['width', 'turnaround']} onChange={onChange} />
            <EntryButton settings={settings} onChange={onChange} />
          </div>
          <Unfold title={planWords.settings.more}>
            <Above settings={settings} onChange={onChange} />
            <Flag settings={settings} name="photosInTurns" onChange={onChange} />
            <Flag settings={settings} name="hover" onChange={onChange} />
          </Unfold>
        </>
      );
    case 'structure':
      return (
        <>
          <div class={css['fields']}>
            <Numbers settings={settings} names={['top', 'bottom', 'entrance', 'pitch']} onChange={onChange} />
          </div>
          <Flag settings={settings} name="fromTop" onChange={onChange} />
        </>
      );
    case 'orbit':
      return (
        <>
          <div class={css['fields']}>
            <Numbers
              settings={settings}
              names={['radius', 'height', 'lookHeight', 'turns', 'start', 'trigger']}
              onChange={onChange}
            />
          </div>
          <Flag settings={settings} name="clockwise" onChange={onChange} />
        </>
      );
  }
}

type Lines = Extract<PatternSettings, { readonly entry: number }>;

function EntryButton({ settings, onChange }: Edits<Lines>): JSX.Element {
  return (
    <Button icon={RotateCw} onClick={() => onChange({ ...settings, entry: (settings.entry + 1) % 4 })}>
      {planWords.settings.entry}
    </Button>
  );
}

function Above({ settings, onChange }: Edits<Lines>): JSX.Element {
  const { home, ground, sea } = planWords.above;
  return (
    <Choice
      label={planWords.reference}
      value={settings.above}
      options={[
        ['home', home],
        ['terrain', ground],
        ['sea', sea],
      ]}
      onChange={(next) => onChange({ ...settings, above: next })}
    />
  );
}

function Outcome({
  settings,
  speed,
}: {
  readonly settings: PatternSettings;
  readonly speed: number | null;
}): JSX.Element | null {
  const made = expand(settings);
  if ('problem' in made) return null;
  const every =
    settings.kind === 'orbit'
      ? settings.trigger
      : settings.kind === 'structure'
        ? settings.sideStep
        : settings.frontStep;
  const isLarge = (made.area ?? 0) >= 10_000;
  return (
    <dl class="stats">
      {made.area === null ? null : (
        <Stat
          label={planWords.area}
          value={number(isLarge ? made.area / 10_000 : made.area, isLarge ? 1 : 0)}
          unit={isLarge ? planWords.hectares : planWords.squareMetres}
        />
      )}
      <Stat label={planWords.photos} value={String(made.photos)} />
      <Stat label={planWords.lines[settings.kind]} value={number(made.parts, made.parts % 1 === 0 ? 0 : 2)} />
      <Stat label={planWords.figures.distance} value={number(made.distance)} unit="m" />
      {every > 0 && speed !== null ? (
        <Stat label={planWords.every} value={number(every / speed, 1)} unit="s" />
      ) : null}
    </dl>
  );
}

/** Corners by keyboard: which one is chosen, where it stands. */
function CornerRow({
  sketch,
  settings,
  onChange,
}: Edits<PatternSettings> & { readonly sketch: Sketch }): JSX.Element | null {
  const corners = cornersOf(settings);
  const at = sketch.corner.value;
  const corner = at === null ? undefined : corners[at];
  const put = (lat: number, lon: number): void =>
    onChange(withCorners(settings, corners.with(at ?? 0, { lat, lon })));
  return (
    <div class={css['corners']}>
      <Button
        icon={ChevronRight}
        onClick={() => (sketch.corner.value = at === null ? 0 : (at + 1) % corners.length)}
      >
        {corner === undefined
          ? planWords.nextCorner
          : planWords.cornerOf({ n: (at ?? 0) + 1, all: corners.length })}
      </Button>
      {corner === undefined ? null : (
        <>
          <NumberInput
            label={planWords.latitude}
            value={corner.lat}
            onChange={(lat) => put(lat, corner.lon)}
          />
          <NumberInput
            label={planWords.longitude}
            value={corner.lon}
            onChange={(lon) => put(corner.lat, lon)}
          />
          {corners.length > leastCorners(settings.kind) ? (
            <Button
              icon={Trash2}
              onClick={() => {
                sketch.corner.value = null;
                onChange(withCorners(settings, corners.toSpliced(at ?? 0, 1)));
              }}
            >
              {planWords.removeCorner}
            </Button>
          ) : null}
        </>
      )}
    </div>
  );
}

/** What is wrong with settings, in words. */
function wrongText({ problem, figure = '' }: Unexpanded): string {
  if (problem !== 'figures') return planWords.wrong[problem];
  const name = Object.entries(planWords.settings).find(([member]) => member === figure)?.[1] ?? figure;
  return planWords.wrong.figures({ name });
}
