import { ArrowLeft } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refused } from '../../../api/client.ts';
import { go, place } from '../../../app/route.ts';
import { FileDrop } from '../../../parts/form/file-drop.tsx';
import { Button, Card, Note, Progress, Unfold } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { LogClient, LogFailure } from './log-client.ts';
import { fetchLog, type LogPart, nameOf, partOf, sourceOf } from './log-source.ts';
import { OpenedLog } from './opened-log.tsx';
import type { LogSummary } from './read/summary.ts';
import { viewerWords as words } from './viewer-words.ts';

type State =
  | { readonly kind: 'none' }
  | { readonly kind: 'busy'; readonly text: string; readonly share: number | null }
  | { readonly kind: 'failed'; readonly text: string }
  | {
      readonly kind: 'open';
      readonly name: string;
      readonly client: LogClient;
      readonly summary: LogSummary;
      readonly part: LogPart | null;
    };

/** Shows a log: of the vehicle, of the node (in the address), or a file of the person. */
export default function LogViewer(): JSX.Element {
  const { state, openFile, stop } = useLog();
  const back = (
    <Button icon={ArrowLeft} onClick={() => go('vehicle', 'logs')}>
      {words.back}
    </Button>
  );
  const choice = (
    <>
      <FileDrop disabled={false} onFile={(file) => void openFile(file)}>
        {words.drop}
      </FileDrop>
      <p class="hint">{words.hint}</p>
    </>
  );
  if (state.kind === 'open')
    return (
      <div class="page">
        <OpenedLog key={state.name} {...state} actions={back}>
          <Unfold title={words.another}>{choice}</Unfold>
        </OpenedLog>
      </div>
    );
  return (
    <div class="page">
      <Card wide title={words.title} actions={back}>
        {state.kind === 'busy' ? (
          <>
            <Progress label={state.text} value={state.share} />
            <Button onClick={stop}>{t.app.cancel}</Button>
          </>
        ) : (
          choice
        )}
        {state.kind === 'failed' ? <Note tone="bad">{state.text}</Note> : null}
      </Card>
    </div>
  );
}

/** What has to end with the log. */
interface Running {
  readonly stopper: AbortController;
  client: LogClient | null;
}

interface OpenLog {
  readonly state: State;
  readonly openFile: (file: File) => Promise<void>;
  readonly stop: () => void;
}

/** One log at a time: the one before goes when another is opened, and with the page. */
function useLog(): OpenLog {
  const [state, setState] = useState<State>({ kind: 'none' });
  const running = useRef<Running>(null);
  const end = (): void => {
    running.current?.stopper.abort();
    running.current?.client?.close();
    running.current = null;
  };
  const open = async (
    name: string,
    get: (signal: AbortSignal) => Promise<Blob>,
    part: LogPart | null = null,
  ): Promise<void> => {
    end();
    const own: Running = { stopper: new AbortController(), client: null };
    running.current = own;
    const { signal } = own.stopper;
    try {
      const file = await get(signal);
      if (signal.aborted) return;
      const text = words.reading({ name });
      setState({ kind: 'busy', text, share: 0 });
      const client = new LogClient((done) => {
        if (!signal.aborted)
          setState((now) => (now.kind === 'busy' ? { kind: 'busy', text, share: done / file.size } : now));
      });
      own.client = client;
      const summary = await client.open(file);
      if (!signal.aborted) setState({ kind: 'open', name, client, summary, part });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refused) && !(error instanceof LogFailure)) throw error;
      end();
      setState({ kind: 'failed', text: error.message });
    }
  };
  const stop = (): void => {
    end();
    setState({ kind: 'none' });
  };
  const address = place.value.rest.slice(2).join('/');
  useEffect(() => {
    const source = sourceOf(place.peek().rest.slice(2));
    if (source !== null) {
      const text = words.fetching({ name: nameOf(source) });
      setState({ kind: 'busy', text, share: null });
      void open(
        nameOf(source),
        async (signal) =>
          fetchLog(source, signal, (share) => {
            if (!signal.aborted) setState({ kind: 'busy', text, share });
          }),
        partOf(place.peek().rest.slice(2)),
      );
    }
    return end;
  }, [address]);
  return { state, openFile: async (file) => open(file.name, async () => Promise.resolve(file)), stop };
}
