import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { memberOf } from '../../../../../shared/member.ts';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { now } from '../../api/presence.ts';
import { CameraChoice } from '../../parts/camera-choice.tsx';
import { bytes, span } from '../../parts/format.ts';
import { Badge, Button } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { Watching } from '../../video/watching.ts';
import { VideoOverlays } from '../extensions/panels.tsx';
import { Boxes } from './boxes.tsx';
import css from './fly.module.css';

// A phone's browser that shows no other element than a film over the whole screen.
type PhoneVideo = HTMLVideoElement & { webkitEnterFullscreen?: () => void };
// Only a delay that somebody feels is worth a word.
const WORTH_MS = 400;

/** The camera's picture with what is known of it. @param stage what becomes the full screen. @param onCamera told the id of the camera that is shown */
export function Picture({
  large,
  stage,
  onCamera,
}: {
  readonly large: boolean;
  readonly stage: { readonly current: HTMLElement | null };
  readonly onCamera: (id: string | null) => void;
}): JSX.Element {
  const video = useRef<HTMLVideoElement>(null);
  const [watching, setWatching] = useState<Watching | null>(null);
  useEffect(() => {
    if (video.current === null) return;
    const begun = new Watching(video.current);
    setWatching(begun);
    return () => begun.stop();
  }, []);
  const camera = watching?.status.value?.camera ?? null;
  useEffect(() => onCamera(camera), [camera]);
  const still = watching?.still.value ?? null;
  return (
    <div class={css['picture']}>
      {/* It has no sound and no text. */}
      <video
        ref={video}
        class={watching?.live.value === true ? '' : 'not-live'}
        aria-label={t.fly.video.label}
        muted
        autoplay
        playsInline
      />
      {still === null ? null : <img src={still.url} alt={t.fly.video.label} />}
      {watching === null ? null : (
        <>
          <Boxes watching={watching} large={large} />
          {large ? <VideoOverlays /> : null}
          <Words watching={watching} large={large} />
          {large ? <Tools watching={watching} video={video} stage={stage} /> : null}
        </>
      )}
    </div>
  );
}

function Words({ watching, large }: { readonly watching: Watching; readonly large: boolean }): JSX.Element {
  const { words, way, live, delay, size, still } = watching;
  const late = delay.value !== null && delay.value >= WORTH_MS ? (delay.value / 1000).toFixed(1) : null;
  // `small` is what the second encode does; its picture is the one of that width.
  const small = watching.status.value?.small ?? null;
  const isSmall = way.value === 'whep' && small !== null && memberOf(small, 'width') === size.value?.width;
  const age = still.value === null ? null : Math.max(0, now.value - still.value.at) / 1000;
  return (
    <div class={css['picture-state']}>
      <span id="video-state" role="status" class={live.value ? 'live' : ''}>
        {words.value}
      </span>
      {large && way.value !== null ? (
        <span class="picture-facts">
          {[
            size.value === null ? '' : t.fly.video.size(size.value.width, size.value.height),
            late === null ? '' : t.fly.video.late(late),
            age === null ? '' : t.app.old(span(age)),
            isSmall ? t.fly.video.small : '',
            t.fly.video.way[way.value],
          ]
            .filter((text) => text !== '')
            .join(', ')}
        </span>
      ) : null}
    </div>
  );
}

function Tools({
  watching,
  video,
  stage,
}: {
  readonly watching: Watching;
  readonly video: { readonly current: PhoneVideo | null };
  readonly stage: { readonly current: HTMLElement | null };
}): JSX.Element {
  const { busy, run } = useAct();
  const [problem, setProblem] = useState<string | null>(null);
  const { data: files, reload } = useAsk('video.recordings.get');
  const recording = watching.recording.value;
  const noPicture = watching.way.value === null ? t.fly.video.none(null) : null;
  const act = (work: () => Promise<string>): void => {
    setProblem(null);
    void run(async () => {
      try {
        say(await work(), 'good');
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
      }
      await watching.look();
      reload();
    });
  };
  const record = async (): Promise<string> => {
    if (recording === null) {
      const { name } = await call('video.record.start.post', { body: {} });
      return t.fly.video.recording('0 s', name);
    }
    const { name } = await call('video.record.stop.post');
    return t.fly.video.recorded(name);
  };
  const full = (): void => {
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    else if (document.fullscreenEnabled) void stage.current?.requestFullscreen();
    else video.current?.webkitEnterFullscreen?.();
  };
  const window = (): void => {
    if (document.pictureInPictureElement !== null) void document.exitPictureInPicture();
    // Refused where the picture has just gone: then there is nothing to be seen in it either.
    else void video.current?.requestPictureInPicture().catch(() => undefined);
  };
  const ended = watching.status.value?.recording_problem ?? null;
  return (
    <div class={css['picture-tools']}>
      {recording === null ? null : (
        <Badge tone="bad">
          {t.fly.video.recording(span(recording.duration_seconds), bytes(recording.size_bytes))}
        </Badge>
      )}
      {problem === null ? null : (
        <p class="note bad" role="alert">
          {problem}
        </p>
      )}
      {ended === null || recording !== null ? null : <p class="note warn">{t.fly.video.stopped(ended)}</p>}
      <CameraChoice shown={watching.status.value?.camera ?? null} onShown={async () => watching.look()} />
      <div class="row">
        <Button
          row={recording === null ? 'video.record.start.post' : 'video.record.stop.post'}
          busy={busy}
          why={recording === null ? noPicture : null}
          onClick={() => act(record)}
        >
          {recording === null ? t.fly.video.record : t.fly.video.recordStop}
        </Button>
        <Button
          row="video.snapshot.post"
          busy={busy}
          why={noPicture}
          onClick={() => act(async () => t.fly.video.taken((await call('video.snapshot.post')).name))}
        >
          {t.fly.video.snapshot}
        </Button>
        {document.pictureInPictureEnabled && watching.way.value !== 'stills' ? (
          <Button why={noPicture} onClick={window}>
            {t.fly.video.window}
          </Button>
        ) : null}
        {document.fullscreenEnabled || video.current?.webkitEnterFullscreen !== undefined ? (
          <Button onClick={full}>{t.fly.video.full}</Button>
        ) : null}
        {may('video.recordings.get') && typeof files?.free_bytes === 'number' ? (
          <small class={css['free']}>{t.fly.video.free(bytes(files.free_bytes))}</small>
        ) : null}
      </div>
    </div>
  );
}
