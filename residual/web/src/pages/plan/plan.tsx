import { ChevronDown, ChevronUp, Maximize, Mountain, Redo2, Undo2 } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { recordOf } from '../../../../../shared/member.ts';
import { MISSION_PARTS } from '../../../../../shared/schemas/mission-item.ts';
import { fresh, newest } from '../../api/telemetry.ts';
import { viewOf } from '../../map/projection.ts';
import { Asked, Button, Note, Segmented, Unfold } from '../../parts/parts.tsx';
import { type AskState, usePolled } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { AddItem } from './add-item.tsx';
import { Drawing } from './drawing.ts';
import { useEstimate } from './estimate/use-estimate.ts';
import { FilesSheet } from './files-sheet.tsx';
import type { FoundShapes } from './import/shapes-in.ts';
import { ImportDialog } from './import-dialog.tsx';
import { ItemList } from './item-list.tsx';
import { isSomewhere, type Part, placeOf } from './list.ts';
import css from './plan.module.css';
import { PlanMap } from './plan-map.tsx';
import { planWords } from './plan-words.ts';
import { ProfileChart } from './profile-chart.tsx';
import { read, type Sketch, sketchOf } from './sketch.ts';
import { DrawingBar, ToolBar } from './tool-bar.tsx';
import { ChecksButton, TotalsBar } from './totals-bar.tsx';
import { UploadButton, UploadState } from './upload-bar.tsx';
import { useTransfer } from './use-transfer.ts';

// About what of the map is free; what it is exactly does not matter.
const FIT = { width: 340, height: 300 };
const MIDDLE = { lat: 0, lon: 0 };

/** Mission, fence and rally points: drawn, checked, sent, kept in files. */
export default function Plan(): JSX.Element {
  const sketch = sketchOf();
  const drawing = useMemo(() => new Drawing(sketch), [sketch]);
  const home = useHome();
  const held = useFirstRead(sketch);
  const estimate = useEstimate(sketch, home);
  const [files, setFiles] = useState(false);
  const [panel, setPanel] = useState(true);
  const [profile, setProfile] = useState(false);
  const [shapes, setShapes] = useState<{ readonly name: string; readonly found: FoundShapes } | null>(null);
  const transfer = useTransfer(sketch, (name, found) => setShapes({ name, found }));
  const part = sketch.part.value;
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
  // What is chosen on the map is seen in the list; the map does not move under a finger that draws.
  const isSeen = sketch.chosen.value !== null && drawing.tool.value === null;
  useEffect(() => {
    if (isSeen) setPanel(true);
  }, [sketch.chosen.value, isSeen]);
  useKeys(sketch, drawing);
  const numberOf = (at: number): number => sketch.lists.value.mission[at]?.seq ?? at;
  return (
    <div
      class={`${css['plan']}${panel ? ` ${css['with-panel']}` : ''}${profile ? ` ${css['with-profile']}` : ''}`}
    >
      <section
        class={`${css['stage']}${drawing.tool.value === null ? '' : ` ${css['with-tool']}`}`}
        aria-label={t.app.page.plan}
      >
        <PlanMap
          sketch={sketch}
          drawing={drawing}
          home={home}
          tools={
            <>
              <Button icon={Maximize} aria-label={planWords.showAll} onClick={fit} />
              <Button
                icon={Undo2}
                aria-label={planWords.undo}
                onClick={() => sketch.undo()}
                why={sketch.canUndo.value ? null : ''}
              />
              <Button
                icon={Redo2}
                aria-label={planWords.redo}
                onClick={() => sketch.redo()}
                why={sketch.canRedo.value ? null : ''}
              />
              <Button
                icon={Mountain}
                aria-label={planWords.profile.show}
                aria-pressed={profile}
                onClick={() => setProfile(!profile)}
              />
            </>
          }
        />
        <ToolBar drawing={drawing} onFiles={() => setFiles(true)} />
        <DrawingBar drawing={drawing} middle={sketch.view.value ?? home ?? MIDDLE} />
        {profile ? (
          <ProfileChart profile={estimate.profile} hasSource={estimate.hasTerrain} numberOf={numberOf} />
        ) : null}
      </section>
      <section class={css['panel']} aria-label={planWords.list({ part: planWords.parts[part] })}>
        <TotalsBar estimate={estimate} />
        <div class={css['acts']}>
          <ChecksButton sketch={sketch} estimate={estimate} />
          <Button
            kind="quiet"
            icon={panel ? ChevronDown : ChevronUp}
            aria-label={panel ? planWords.panel.hide : planWords.panel.show}
            aria-expanded={panel}
            onClick={() => setPanel(!panel)}
          />
          <UploadButton sketch={sketch} transfer={transfer} />
        </div>
        <UploadState sketch={sketch} transfer={transfer} />
        {panel ? (
          <div class={css['lists']}>
            <Segmented<Part>
              label={planWords.partsLabel}
              chosen={part}
              onChoose={(next) => sketch.show(next)}
              options={MISSION_PARTS.map((id) => ({ id, name: tabName(sketch, id) }))}
            />
            <Asked of={held}>
              {({ problem }) => (problem === null ? null : <Note tone="warn">{problem}</Note>)}
            </Asked>
            {held.isAwaited && sketch.items.value.length === 0 ? null : (
              <ItemList sketch={sketch} totals={estimate.totals} />
            )}
            <Unfold title={planWords.addOther}>
              <AddItem sketch={sketch} />
            </Unfold>
          </div>
        ) : null}
      </section>
      <FilesSheet
        sketch={sketch}
        transfer={transfer}
        home={home}
        firmware={firmware()}
        open={files}
        onClose={() => setFiles(false)}
      />
      {shapes === null ? null : (
        <ImportDialog
          sketch={sketch}
          {...shapes}
          onClose={() => {
            setShapes(null);
            sketch.view.value = null;
          }}
        />
      )}
    </div>
  );
}

function tabName(sketch: Sketch, part: Part): string {
  const count = sketch.lists.value[part].length;
  const star = sketch.pending.value.includes(part) ? ' •' : '';
  return `${planWords.parts[part]}${count === 0 ? '' : ` ${count}`}${star}`;
}

/** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y), where no text is written; Escape puts the tool away. */
function useKeys(sketch: Sketch, drawing: Drawing): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { target, key } = event;
      if (key === 'Escape' && drawing.tool.value !== null) drawing.end();
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'radio') return;
      const letter = key.toLowerCase();
      if (letter === 'y' || (letter === 'z' && event.shiftKey)) sketch.redo();
      else if (letter === 'z') sketch.undo();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [sketch, drawing]);
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

/** What the vehicle holds, when the page is opened; `problem`: why a part of it is not known. */
function useFirstRead(sketch: Sketch): AskState<{ readonly problem: string | null }> {
  const alive = fresh('link', () => true) === true;
  return usePolled(
    String(alive),
    // Once more when a vehicle comes; not when one is lost.
    async () => ({
      problem:
        !alive && sketch.held.value.mission !== null ? null : await read(sketch, false, () => undefined),
    }),
    null,
  );
}
