import { Boxes, PackagePlus, ScanEye } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { HEADS, type Head } from '../../../../../shared/schemas/vision.ts';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer, Body } from '../../api/rows.ts';
import css from '../../network/node.module.css';
import { upload } from '../../parts/form/upload.ts';
import { bytes, number } from '../../parts/format.ts';
import {
  Asked,
  Badge,
  Button,
  Card,
  ErrorNote,
  Field,
  HoldButton,
  Note,
  Progress,
  Stat,
} from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

type Models = Answer<'vision.models.get'>;

const EVERY_MS = 3000;
const TONES = {
  off: 'info',
  down: 'bad',
  loading: 'warn',
  measuring: 'warn',
  running: 'good',
  waiting: 'warn',
  failed: 'bad',
} as const satisfies Record<Answer<'vision.status.get'>['state'], string>;

/** The detector on the pictures, and the models that it can be made of. */
export function Vision(): JSX.Element {
  const asked = useAsk('vision.status.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const models = useAsk('vision.models.get');
  const [stored, setStored] = useState(0);
  const act = useAct();
  const text = t.node.vision;
  const changed = (): void => {
    reload();
    models.reload();
  };
  const change = (work: () => Promise<string>): void => {
    void act.run(async () => {
      say(await work(), 'good');
      changed();
    });
  };
  const figure = (value: number | null, digits = 0): string | null =>
    value === null ? null : number(value, digits);
  return (
    <>
      <Card title={text.title} icon={ScanEye}>
        <Asked of={asked} />
        {data === null ? null : (
          <>
            <p>
              <Badge tone={TONES[data.state]}>{text.states[data.state]}</Badge> {data.model_id ?? ''}
            </p>
            {data.last_error === null ? null : <Note tone="bad">{data.last_error}</Note>}
            <dl class="stats">
              <Stat label={text.fps} value={figure(data.fps, 1)} />
              <Stat label={text.latency} value={figure(data.latency_ms)} unit="ms" />
              <Stat label={text.inference} value={figure(data.inference_ms)} unit="ms" />
              <Stat label={text.dropped} value={figure(data.dropped)} />
              <Stat label={text.memory} value={figure(data.memory_mb)} unit="MB" />
            </dl>
            {data.model_id === null ? null : (
              <Button
                row="vision.detector.delete"
                busy={act.busy}
                onClick={() =>
                  change(async () => {
                    await call('vision.detector.delete');
                    return text.stopped;
                  })
                }
              >
                {text.stop}
              </Button>
            )}
          </>
        )}
      </Card>
      <Card title={text.models} icon={Boxes} wide>
        <ErrorNote error={models.error ?? act.error} onRetry={changed} />
        {models.data === null ? null : <Installed models={models.data} busy={act.busy} change={change} />}
        {models.data === null ? null : <Offered models={models.data} onDone={changed} />}
      </Card>
      {may('vision.models.post') ? (
        <Upload
          key={stored}
          onDone={() => {
            changed();
            setStored((n) => n + 1);
          }}
        />
      ) : null}
    </>
  );
}

function Installed({
  models: { installed, custom, active, cache },
  busy,
  change,
}: {
  readonly models: Models;
  readonly busy: boolean;
  readonly change: (work: () => Promise<string>) => void;
}): JSX.Element {
  const text = t.node.vision;
  return (
    <>
      <p class="hint">{text.space({ used: bytes(cache.used_bytes), most: bytes(cache.max_bytes) })}</p>
      {installed.length === 0 ? <p>{text.none}</p> : null}
      <ul class={css['items']}>
        {installed.map(({ id, name, size_bytes: size, input_w: width, input_h: height, classes }) => (
          <li key={id}>
            <div>
              <strong>{name}</strong>
              <p class="hint">
                {text.item({ id, size: bytes(size), input: `${width} × ${height}`, classes: classes.length })}
              </p>
            </div>
            <div class="row">
              {id === active ? (
                <Badge tone="good">{text.inUse}</Badge>
              ) : (
                <Button
                  row="vision.detector.put"
                  busy={busy}
                  aria-label={text.useOne({ name })}
                  onClick={() =>
                    change(async () => {
                      const { enabled } = await call('vision.detector.put', { body: { model_id: id } });
                      return enabled ? text.using({ name }) : text.notStarted;
                    })
                  }
                >
                  {text.use}
                </Button>
              )}
              {custom.includes(id) && id !== active && may('vision.models.id.delete') ? (
                <HoldButton
                  kind="danger"
                  busy={busy}
                  label={text.deleteOne({ name })}
                  onConfirm={() =>
                    change(async () => {
                      await call('vision.models.id.delete', { params: { id } });
                      return text.deleted({ name });
                    })
                  }
                >
                  {text.delete}
                </HoldButton>
              ) : null}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What the operator's list has and this node has not. */
function Offered({
  models: { registry, registry_error: problem, installed },
  onDone,
}: {
  readonly models: Models;
  readonly onDone: () => void;
}): JSX.Element | null {
  const act = useAct();
  const [step, setStep] = useState<string | null>(null);
  const text = t.node.vision;
  const missing = registry.filter((model) => installed.every(({ id }) => id !== model.id));
  if (problem !== null) return <Note tone="warn">{text.noList({ why: problem })}</Note>;
  if (missing.length === 0) return null;
  return (
    <>
      <h3>{text.offered}</h3>
      <ErrorNote error={act.error} />
      {act.busy ? <Progress label={step ?? text.checking} value={null} /> : null}
      <ul class={css['items']}>
        {missing.map(({ id, name = id, url, sha256, metadata }) => (
          <li key={id}>
            <strong>{name}</strong>
            <Button
              row="vision.models.post"
              busy={act.busy}
              aria-label={text.fetchOne({ name })}
              onClick={() =>
                void act.run(async () => {
                  const body: Body<'vision.models.post'> = { url, sha256, metadata };
                  await call('vision.models.post', { body, onProgress: (at) => setStep(at.text) });
                  say(text.stored({ name }), 'good');
                  onDone();
                })
              }
            >
              {text.fetch}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** `modelId`, as an input takes it: there, a dash is escaped. */
const ID = '[A-Za-z0-9](?:[A-Za-z0-9._\\-]{0,62}[A-Za-z0-9])?';

function Upload({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const [file, setFile] = useState<File | null>(null);
  const [id, setId] = useState('');
  const [head, setHead] = useState<Head>('yolov8');
  const [size, setSize] = useState({ width: '640', height: '640' });
  const [classes, setClasses] = useState('');
  const [share, setShare] = useState<number | null>(null);
  const act = useAct();
  const text = t.node.vision;
  const choose = (chosen: File | undefined): void => {
    if (chosen === undefined) return;
    setFile(chosen);
    if (id === '')
      setId(
        chosen.name
          .replace(/\.onnx$/i, '')
          .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
          .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
          .slice(0, 64),
      );
  };
  const send = async (): Promise<void> => {
    if (file === null) return;
    const form = new FormData();
    // Before the file, so that what is wrong in it is told before the bytes are sent.
    form.set(
      'metadata',
      JSON.stringify({
        id,
        head,
        input_w: Number(size.width),
        input_h: Number(size.height),
        classes: classes.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()])),
      }),
    );
    form.set('file', file);
    setShare(0);
    try {
      await upload('vision.models.post', {}, form, setShare);
    } finally {
      setShare(null);
    }
    say(text.stored({ name: id }), 'good');
    onDone();
  };
  return (
    <Card title={text.add} icon={PackagePlus}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act.run(send);
        }}
      >
        <Field label={text.file} hint={text.fileHint}>
          {(ids) => (
            <input
              {...ids}
              type="file"
              accept=".onnx"
              required
              onChange={(event) => choose(event.currentTarget.files?.[0])}
            />
          )}
        </Field>
        <Field label={text.id} hint={text.idHint}>
          {(ids) => (
            <input
              {...ids}
              name="id"
              required
              maxLength={64}
              pattern={ID}
              value={id}
              onInput={(event) => setId(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={text.head}>
          {(ids) => (
            <select
              {...ids}
              name="head"
              value={head}
              onChange={({ currentTarget: { value } }) =>
                setHead(HEADS.find((each) => each === value) ?? head)
              }
            >
              {HEADS.map((each) => (
                <option key={each} value={each}>
                  {text.heads[each]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {(['width', 'height'] as const).map((side) => (
          <Field key={side} label={text[side]}>
            {(ids) => (
              <input
                {...ids}
                name={side}
                type="number"
                required
                min={16}
                max={1920}
                value={size[side]}
                onInput={(event) => setSize({ ...size, [side]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
        <Field label={text.classes}>
          {(ids) => (
            <textarea
              {...ids}
              name="classes"
              rows={4}
              value={classes}
              onInput={(event) => setClasses(event.currentTarget.value)}
            />
          )}
        </Field>
        {share === null ? null : (
          <Progress
            label={share < 1 ? text.sending({ percent: Math.round(share * 100) }) : text.checking}
            value={share}
          />
        )}
        <ErrorNote error={act.error} />
        <Button type="submit" kind="primary" busy={act.busy}>
          {text.upload}
        </Button>
      </form>
    </Card>
  );
}
