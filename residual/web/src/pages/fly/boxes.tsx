import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Batch, Detection } from '../../../../../shared/schemas/vision.ts';
import { call, Refused } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer, Body } from '../../api/rows.ts';
import { Stream } from '../../api/socket.ts';
import { Button } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { DetectionTrack } from '../../video/detection-track.ts';
import type { Watching } from '../../video/watching.ts';
import css from './fly.module.css';

type Status = Answer<'vision.status.get'>;

const ASK_MS = 3000;
const LOOK_MS = 200;
// The slowest detector looks every 5 s.
const SILENCE_MS = 20_000;
const OWN = 'svc-vision';
/** A label does not fit above a box that begins so near to the upper edge, as a share of the picture. */
const TOP = 0.08;

/** What is seen in the picture, drawn where it is; a box that is chosen is followed. Nothing where nobody looks for anything. */
export function Boxes({
  watching,
  large,
}: {
  readonly watching: Watching;
  readonly large: boolean;
}): JSX.Element | null {
  const { status, sees, look } = useSeer();
  const batches = useBatches(watching, sees && watching.way.value !== null);
  const act = useAct();
  const designate = (body: Body<'vision.designate.post'>): void => {
    void act.run(async () => {
      try {
        await call('vision.designate.post', { body });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        say(error.message, 'bad');
      }
      await look();
    });
  };
  const choose = large && may('vision.designate.post') ? designate : null;
  const target = status?.designated ?? null;
  return (
    <>
      {batches.map((batch) => (
        <Batched key={batch.source} batch={batch} large={large} choose={choose} />
      ))}
      {target === null || !large ? null : (
        <div class={css['picture-target']}>
          <span role="status">
            {t.fly.seen.target({ track: target.track_id, lock: t.fly.seen.lock[target.lock_state] })}
          </span>
          <Button row="vision.designate.post" busy={act.busy} onClick={() => designate({ release: true })}>
            {t.fly.seen.release}
          </Button>
        </div>
      )}
    </>
  );
}

function Batched({
  batch: { source, frame_width: width, frame_height: height, detections },
  large,
  choose,
}: {
  readonly batch: Batch;
  readonly large: boolean;
  readonly choose: ((body: Body<'vision.designate.post'>) => void) | null;
}): JSX.Element {
  // In an order that stays, so that the keyboard's place does, too.
  const ordered = detections
    .map((detection, at) => ({ detection, key: detection.track_id ?? -1 - at }))
    .toSorted((a, b) => a.key - b.key);
  return (
    <div class={css['boxes']} role="group" aria-label={t.fly.seen.label}>
      <div class={css['frame']} style={{ '--w': width, '--h': height }}>
        {ordered.map(({ detection, key }) => {
          const { bbox, lock_state: lock, track_id: track } = detection;
          const place = {
            left: `${((bbox.x + bbox.width / 2) / width) * 100}%`,
            top: `${((bbox.y + bbox.height / 2) / height) * 100}%`,
            width: `${(bbox.width / width) * 100}%`,
            height: `${(bbox.height / height) * 100}%`,
          };
          const look = `${css['box']} ${lock ?? ''} ${bbox.y / height < TOP ? 'at-top' : ''}`;
          const words = large ? <span class={css['words']}>{wordsOf(detection)}</span> : null;
          // Only what the node's own detector sees can be followed.
          if (choose === null || source !== OWN)
            return (
              <div key={key} class={look} style={place} data-track={track}>
                {words}
              </div>
            );
          return (
            <button
              key={key}
              type="button"
              class={look}
              style={place}
              data-track={track}
              aria-pressed={lock !== null}
              title={lock === null ? t.fly.seen.follow : t.fly.seen.release}
              onClick={() =>
                choose(lock !== null ? { release: true } : track === null ? { bbox } : { track_id: track })
              }
            >
              {words}
            </button>
          );
        })}
      </div>
    </div>
  );
}

function wordsOf({ class_label: label, confidence, track_id: track, lock_state: lock }: Detection): string {
  const percent = Math.round(confidence * 100);
  return t.fly.seen.box({ label, percent, track, lock: lock === null ? null : t.fly.seen.lock[lock] });
}

/** What the detector says of itself, and whether somebody looks for something: it, or an extension. */
function useSeer(): {
  readonly status: Status | null;
  readonly sees: boolean;
  readonly look: () => Promise<void>;
} {
  const [state, setState] = useState<{ status: Status | null; sees: boolean }>({ status: null, sees: false });
  const look = async (): Promise<void> => {
    if (document.hidden || !may('vision.status.get') || !may('vision.detections.ws.ws')) return;
    try {
      const status = await call('vision.status.get');
      const sees = status.state !== 'off' || 'source' in (await call('vision.detections.latest.get'));
      setState({ status, sees });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setState({ status: null, sees: false }); // a node without vision, or none that answers
    }
  };
  useEffect(() => {
    void look();
    const timer = setInterval(() => void look(), ASK_MS);
    return () => clearInterval(timer);
  }, []);
  return { ...state, look };
}

/** The batches that belong to the picture that is shown. */
function useBatches(watching: Watching, open: boolean): readonly Batch[] {
  const [batches, setBatches] = useState<readonly Batch[]>([]);
  useEffect(() => {
    if (!open) return;
    const track = new DetectionTrack();
    let shown: readonly Batch[] = [];
    const look = (): void => {
      const next = track.at(watching.takenAt(), clock());
      if (next.length === shown.length && next.every((batch, at) => batch === shown[at])) return;
      shown = next;
      setBatches(next);
    };
    const stream = new Stream(
      'vision.detections.ws.ws',
      (text) => {
        track.add(JSON.parse(text) as Batch, clock());
        look();
      },
      { silenceMs: SILENCE_MS },
    );
    const unfollow = watching.onPicture(look);
    const timer = setInterval(look, LOOK_MS);
    return () => {
      stream.stop();
      unfollow();
      clearInterval(timer);
      setBatches([]);
    };
  }, [watching, open]);
  return batches;
}

/** Unix time, ms, that does not jump while the page is open. */
function clock(): number {
  return performance.timeOrigin + performance.now();
}
