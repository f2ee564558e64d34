import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer, Body } from '../../api/rows.ts';
import { CameraChoice } from '../../parts/camera-choice.tsx';
import { number } from '../../parts/format.ts';
import { Badge, Button, Card, ErrorNote, Note, Stat } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './node.module.css';
import { Recordings } from './recordings.tsx';
import { Vision } from './vision.tsx';

const EVERY_MS = 3000;
const TONES = {
  off: 'info',
  down: 'bad',
  searching: 'warn',
  starting: 'warn',
  running: 'good',
  lost: 'bad',
} as const satisfies Record<Answer<'video.get'>['state'], string>;
const PROFILES = ['hero', 'thumbnail'] as const;

export function VideoTab(): JSX.Element {
  const { data, error, reload } = useAsk('video.get', {}, EVERY_MS);
  const cameras = useAsk('video.cameras.get');
  const [stored, setStored] = useState(0);
  const act = useAct();
  const text = t.node.video;
  const figure = (value: number | null | undefined, digits = 0): string | null =>
    value === null || value === undefined ? null : number(value, digits);
  const snapshot = (): void => {
    void act.run(async () => {
      const { name } = await call('video.snapshot.post');
      say(text.snapshotStored(name), 'good');
      setStored((n) => n + 1);
    });
  };
  const record = (): void => {
    void act.run(async () => {
      if (data?.recording === null) await call('video.record.start.post', { body: {} });
      else await call('video.record.stop.post');
      reload();
      setStored((n) => n + 1);
    });
  };
  return (
    <div class="page">
      <Card title={text.title}>
        <ErrorNote error={error} onRetry={reload} />
        {data === null ? null : (
          <>
            <p>
              <Badge tone={TONES[data.state]}>{text.states[data.state]}</Badge> {data.source ?? ''}
            </p>
            <CameraChoice shown={data.camera ?? null} onShown={reload} />
            {data.problem == null ? null : <Note tone="bad">{data.problem}</Note>}
            {data.recording_problem == null ? null : <Note tone="warn">{data.recording_problem}</Note>}
            <dl class="stats">
              <Stat label={text.encoder} value={data.encoder ?? text.passed(data.codec ?? null)} />
              <Stat label={text.fps} value={figure(data.fps, 1)} />
              <Stat label={text.bitrate} value={figure(data.bitrate_kbps)} unit="kbit/s" />
              <Stat label={text.dropped} value={figure(data.dropped)} />
              <Stat label={text.age} value={figure(data.last_frame_age_ms)} unit="ms" />
              <Stat
                label={text.viewers}
                value={`${data.viewers} / ${figure(data.max_viewers) ?? t.app.none}`}
              />
            </dl>
            <div class="row">
              <Button row="video.snapshot.post" busy={act.busy} onClick={snapshot}>
                {text.snapshot}
              </Button>
              <Button
                row={data.recording === null ? 'video.record.start.post' : 'video.record.stop.post'}
                kind={data.recording === null ? 'plain' : 'danger'}
                busy={act.busy}
                onClick={record}
              >
                {data.recording === null ? text.record : text.stop}
              </Button>
            </div>
            {data.recording === null ? null : <p>{text.recording(data.recording.name)}</p>}
            <ErrorNote error={act.error} />
          </>
        )}
      </Card>
      <Profile />
      <Card title={text.cameras} actions={<Button onClick={cameras.reload}>{text.look}</Button>}>
        <ErrorNote error={cameras.error} />
        {cameras.data?.problem == null ? null : <Note tone="warn">{cameras.data.problem}</Note>}
        {cameras.data?.cameras.length === 0 ? <p>{text.noCameras}</p> : null}
        <ul class={css['items']}>
          {cameras.data?.cameras.map((camera) => (
            <li key={camera.device_path}>
              <div>
                <strong>{camera.label ?? camera.device_path}</strong>
                <p class="hint">
                  {camera.device_path} · {camera.width ?? t.app.none} × {camera.height ?? t.app.none}
                </p>
              </div>
              {cameras.data?.source === camera.source ? <Badge tone="good">{text.inUse}</Badge> : null}
            </li>
          ))}
        </ul>
        <p class="hint">{text.sourceHint}</p>
      </Card>
      {may('vision.status.get') ? <Vision /> : null}
      <Recordings key={stored} />
    </div>
  );
}

function Profile(): JSX.Element {
  const { data, error, reload } = useAsk('video.profile.get', {}, EVERY_MS);
  const act = useAct();
  const text = t.node.video;
  return (
    <Card title={text.profile}>
      <ErrorNote error={error ?? act.error} />
      {data === null ? null : (
        <>
          <p>{text.picture(data.width, data.height, data.fps, data.bitrate_kbps)}</p>
          <div class="row" role="group" aria-label={text.base}>
            {PROFILES.map((profile) => (
              <Button
                key={profile}
                row="video.profile.post"
                busy={act.busy}
                aria-pressed={profile === data.base_profile}
                onClick={() =>
                  void act.run(async () => {
                    await call('video.profile.post', { body: { profile } as Body<'video.profile.post'> });
                    reload();
                  })
                }
              >
                {text.profiles[profile]}
              </Button>
            ))}
          </div>
          {data.leases.map(({ holder, profile, lease_s: seconds }) => (
            <p key={holder}>{text.lease(holder, text.profiles[profile], seconds)}</p>
          ))}
          {data.leases.length === 0 ? <p class="hint">{text.noLease}</p> : null}
        </>
      )}
    </Card>
  );
}
