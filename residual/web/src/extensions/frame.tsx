import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Dialog, HoldButton, Note } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import css from './extensions.module.css';
import { Host, messageOf } from './host.ts';
import { withDefaults } from './settings.ts';
import type { Detailed } from './status.ts';

const MIN_HEIGHT_PX = 120;
const MAX_HEIGHT_PX = 4000;

interface Question {
  readonly text: string;
  readonly answer: (yes: boolean) => void;
}

interface FrameProps {
  readonly data: Detailed;
  /** As in the grant, `fc-tab`; `page` for its own place below Extensions. */
  readonly slot: string;
}

/** The extension's page, in a frame with an origin of its own that reaches nothing but this page's port. */
export function ExtensionFrame(props: FrameProps): JSX.Element {
  const { plugin_id: id, version, installed_at: at } = props.data.install;
  return <Frame key={`${id} ${version} ${at} ${props.slot}`} {...props} />;
}

function Frame({ data, slot }: FrameProps): JSX.Element {
  const { install, manifest, granted_capabilities: grants, settings: values } = data;
  const { plugin_id: id, version } = install;
  const name = manifest?.name ?? id;
  const settings = manifest?.settings ?? null;
  const configured = settings === null ? null : withDefaults(settings, values);
  const frame = useRef<HTMLIFrameElement>(null);
  const host = useRef<Host | null>(null);
  const [height, setHeight] = useState(MIN_HEIGHT_PX);
  const [problem, setProblem] = useState<string | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  useEffect(() => () => host.current?.stop(), []);
  useEffect(() => host.current?.granted(grants), [grants.join()]);
  useEffect(() => host.current?.configured(configured), [JSON.stringify(configured)]);
  const begin = (): void => {
    const inside = frame.current?.contentWindow;
    // A frame that went elsewhere by itself gets nothing more.
    if (inside === null || inside === undefined || host.current !== null) {
      host.current?.stop();
      return;
    }
    host.current = new Host(inside, { id, name, version, slot }, grants, {
      height: (px) => setHeight(Math.min(MAX_HEIGHT_PX, Math.max(MIN_HEIGHT_PX, px))),
      problem: setProblem,
      ask: async (text) =>
        new Promise((answer) =>
          setQuestion({
            text,
            answer: (yes) => {
              setQuestion(null);
              answer(yes);
            },
          }),
        ),
    });
    host.current.configured(configured);
    host.current
      .start(manifest?.gcs?.entrypoint ?? '')
      .catch((error: unknown) => setProblem(messageOf(error)));
  };
  const over = slot === 'video-overlay';
  return (
    <>
      {problem === null ? null : <Note tone="bad">{t.extensions.frame.problem({ text: problem })}</Note>}
      <iframe
        ref={frame}
        class={`${css['extension-frame']} ${over ? 'over' : ''}`}
        title={t.extensions.frame.title({ name })}
        sandbox="allow-scripts"
        src="/assets/frame.html"
        style={over ? {} : { height: `${height}px` }}
        onLoad={begin}
      />
      <Dialog
        title={t.extensions.frame.asks({ name })}
        open={question !== null}
        onClose={() => question?.answer(false)}
      >
        <p>{question?.text}</p>
        <div class="row">
          <HoldButton kind="danger" onConfirm={() => question?.answer(true)}>
            {t.extensions.frame.allow}
          </HoldButton>
          <Button onClick={() => question?.answer(false)}>{t.app.cancel}</Button>
        </div>
      </Dialog>
      {over ? null : <p class="hint">{t.extensions.frame.hint({ id })}</p>}
    </>
  );
}
