import { Download, FileUp, RefreshCw, Trash2 } from 'lucide';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { Home } from '../../../../../shared/mission/wpl.ts';
import { may } from '../../api/node.ts';
import { saveText } from '../../parts/files.ts';
import { Button, Dialog, HoldButton } from '../../parts/parts.tsx';
import { planText, waypointText } from './files.ts';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import { DELETE, type Sketch } from './sketch.ts';
import type { Transfer } from './use-transfer.ts';

/** Files of plans and shapes, and what else can be done with the vehicle's lists. */
export function FilesSheet({
  sketch,
  transfer,
  home,
  firmware,
  open,
  onClose,
}: {
  readonly sketch: Sketch;
  readonly transfer: Transfer;
  readonly home: Home | null;
  readonly firmware: string | null;
  readonly open: boolean;
  readonly onClose: () => void;
}): JSX.Element {
  const picker = useRef<HTMLInputElement>(null);
  const part = sketch.part.value;
  const canDiscard = transfer.known && sketch.pending.value.length > 0;
  return (
    <>
      {/* Outside of the sheet: it stays while a file is chosen. */}
      <input
        ref={picker}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-label={planWords.open}
        accept=".plan,.waypoints,.txt,.wpl,.mission,.kml,.kmz,.gpx,.geojson,.json,application/json,text/plain"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file !== undefined) transfer.open(file);
          event.currentTarget.value = '';
          onClose();
        }}
      />
      <Dialog sheet title={planWords.file.title} open={open} onClose={onClose}>
        <h3>{planWords.file.files}</h3>
        <div class={css['stack']}>
          <Button icon={FileUp} onClick={() => picker.current?.click()}>
            {planWords.open}
          </Button>
          <p class="hint">{planWords.file.hint}</p>
          <Button icon={Download} onClick={() => saveText(planText(sketch, home, firmware), 'mission.plan')}>
            {planWords.savePlan}
          </Button>
          <Button
            icon={Download}
            onClick={() => saveText(waypointText(sketch, home), 'mission.waypoints', 'text/plain')}
          >
            {planWords.saveWaypoints}
          </Button>
        </div>
        <h3>{planWords.file.of}</h3>
        <div class={css['stack']}>
          <Button
            icon={RefreshCw}
            row="mission.get"
            busy={transfer.busy}
            onClick={() => {
              transfer.readAgain();
              onClose();
            }}
          >
            {planWords.readAgain}
          </Button>
          {canDiscard ? (
            <Button
              onClick={() => {
                transfer.discard();
                onClose();
              }}
            >
              {planWords.discard}
            </Button>
          ) : null}
          {may(DELETE[part]) ? (
            <HoldButton
              kind="plain"
              row={DELETE[part]}
              icon={Trash2}
              busy={transfer.busy}
              onConfirm={() => {
                transfer.clear();
                onClose();
              }}
            >
              {planWords.clear[part]}
            </HoldButton>
          ) : null}
        </div>
      </Dialog>
    </>
  );
}
