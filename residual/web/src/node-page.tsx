import { CircleArrowUp, type IconNode, RefreshCw, ShieldAlert, Unplug } from 'lucide';
import type { ComponentChildren, ComponentType, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, Refused } from './api/client.ts';
import { credential } from './api/credential.ts';
import { arrive } from './api/handover.ts';
import { enter, entry, info } from './api/node.ts';
import { awayFrom, awaySeconds } from './api/presence.ts';
import { relayed } from './api/relay.ts';
import { newer } from './app/kept-page.ts';
import { Menu } from './app/menu.tsx';
import { MenuButton } from './app/menu-button.tsx';
import { Rail } from './app/rail.tsx';
import { go, type PageId, place } from './app/route.ts';
import { WaitingCalls } from './app/waiting-calls.tsx';
import { clock } from './parts/format.ts';
import { Button, Icon, Note } from './parts/parts.tsx';
import { leaveToasts, Toasts } from './parts/toast.tsx';
import { useAct } from './parts/use-ask.ts';
import { SignIn } from './sign-in.tsx';
import { t } from './strings.ts';
import { AlarmBanner } from './vehicle/alarm-banner.tsx';
import { VehicleBar } from './vehicle/vehicle-bar.tsx';
import { VoiceChoice } from './vehicle/voice-choice.tsx';

const RETRY_MS = 2000;

/** Each page is loaded when it is first opened. */
const LOADERS: Readonly<Record<PageId, () => Promise<{ readonly default: ComponentType }>>> = {
  fly: async () => import('./pages/fly/fly.tsx'),
  plan: async () => import('./pages/plan/plan.tsx'),
  vehicle: async () => import('./pages/vehicle/vehicle.tsx'),
  node: async () => import('./pages/node/node.tsx'),
  extensions: async () => import('./pages/extensions/extensions.tsx'),
  access: async () => import('./pages/access/access.tsx'),
  ground: async () => import('./pages/ground/ground.tsx'),
  setup: async () => import('./pages/setup/setup.tsx'),
};

/** The frame around the pages: who the node is, where one can go, what is wrong. */
export function App(): JSX.Element {
  useEntry();
  const { state } = entry.value;
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        {t.app.skip}
      </a>
      {/* The set-up fills the window: it has a bar of its own. */}
      {state === 'in' && place.value.page === 'setup' ? null : <TopBar />}
      {state === 'in' ? <AlarmBanner /> : null}
      {state === 'in' ? <WaitingCalls /> : null}
      {state === 'checking' || awaySeconds.value === null || awaySeconds.value < 3 ? null : (
        <Banner tone="warn" icon={Unplug}>
          {t.app.away({ seconds: awaySeconds.value })}
        </Banner>
      )}
      {newer.value && state !== 'outdated' ? (
        <Banner tone="info" icon={CircleArrowUp}>
          {t.app.newer} <Reload />
        </Banner>
      ) : null}
      {state === 'in' ? <Inside /> : <Outside />}
      {state === 'in' ? null : <Toasts />}
    </>
  );
}

function Outside(): JSX.Element {
  const now = entry.value;
  if (now.state === 'signin') return <SignIn />;
  return (
    <main id="content" class="alone">
      {now.state === 'refused' ? (
        <>
          <Icon of={ShieldAlert} />
          <h1>{t.signIn.refused}</h1>
          <p>{now.why}</p>
        </>
      ) : now.state === 'outdated' ? (
        <>
          <Icon of={CircleArrowUp} />
          <h1>{t.app.newer}</h1>
          <Reload />
        </>
      ) : awayFrom.value === null ? (
        <p class="first">{t.app.checking}</p>
      ) : (
        <Unreachable since={awayFrom.value} />
      )}
    </main>
  );
}

function Reload(): JSX.Element {
  return (
    <Button kind="primary" icon={RefreshCw} onClick={() => location.reload()}>
      {t.app.reload}
    </Button>
  );
}

/** One line above the page. */
function Banner({
  tone,
  icon,
  children,
}: {
  readonly tone: 'info' | 'warn';
  readonly icon: IconNode;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`banner ${tone}`} role="status">
      <Icon of={icon} />
      {children}
    </div>
  );
}

/** The page was kept by the browser, and the node is not there. */
function Unreachable({ since }: { since: number }): JSX.Element {
  const act = useAct();
  return (
    <>
      <Icon of={Unplug} />
      <h1>{t.app.unreachable({ since: clock(since) })}</h1>
      <p>{t.app.unreachableToDo}</p>
      <Button kind="primary" icon={RefreshCw} busy={act.busy} onClick={() => void act.run(enter)}>
        {t.app.retry}
      </Button>
    </>
  );
}

function Inside(): JSX.Element {
  const { page } = place.value;
  useEffect(leaveToasts, [page]);
  return (
    <div class="inside">
      {/* The set-up asks one thing after the other; there is nowhere else to go. */}
      {page === 'setup' ? null : <Rail />}
      <div class="column">
        <main id="content" tabIndex={-1} data-page={page}>
          {/* Another vehicle is another page: nothing of the last one may stay. */}
          <Page key={`${page} ${relayed.value?.deviceId ?? ''} ${credential.value?.value ?? ''}`} id={page} />
        </main>
        {/* The page to fly by has a place for them where nothing moves. */}
        {page === 'fly' ? null : <Toasts />}
      </div>
    </div>
  );
}

function Page({ id }: { id: PageId }): JSX.Element {
  const [loaded, setLoaded] = useState<{ Component: ComponentType } | 'failed' | null>(null);
  useEffect(() => {
    let shown = true;
    LOADERS[id]().then(
      ({ default: Component }) => shown && setLoaded({ Component }),
      () => shown && setLoaded('failed'),
    );
    return () => {
      shown = false;
    };
  }, [id]);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${t.app.page[id]} · ${info.value?.name ?? 'svc'}`;
  }, [id, info.value]);
  if (loaded === 'failed')
    return (
      <Note tone="bad">
        {t.app.noAnswer} <Button onClick={() => location.reload()}>{t.app.retry}</Button>
      </Note>
    );
  return (
    <>
      <h1 ref={title} class="visually-hidden">
        {t.app.page[id]}
      </h1>
      {loaded === null ? <p class="first">{t.app.loading}</p> : <loaded.Component />}
    </>
  );
}

function TopBar(): JSX.Element {
  const drone = relayed.value;
  return (
    <header class="top">
      <strong>{info.value?.name ?? 'svc'}</strong>
      {drone === null ? null : (
        <span class="through">
          {t.app.relay.title({ name: drone.name })}{' '}
          <Button
            onClick={() => {
              relayed.value = null;
              go('ground');
            }}
          >
            {t.app.relay.back}
          </Button>
        </span>
      )}
      {entry.value.state === 'in' ? <VehicleBar /> : null}
      <span class="spring" />
      {/* Anew wherever one goes, and closed. */}
      <MenuButton key={`${place.value.page} ${entry.value.state}`} title={info.value?.name ?? t.app.menu}>
        <Menu pages={['setup']}>
          <VoiceChoice />
        </Menu>
      </MenuButton>
    </header>
  );
}

/** Asks until the node has answered; again whenever the credential is gone. An unpaired node that nobody set up opens at setup. */
function useEntry(): void {
  const held = credential.value === null;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stopped = false;
    const ask = async (): Promise<void> => {
      try {
        await arrive();
        await enter();
        const isNew = (): boolean =>
          !stopped && entry.value.state === 'in' && info.value?.paired === false && location.hash === '';
        if (!isNew()) return;
        const { finished } = await call('setup.status.get');
        // Whoever has opened a link in the meantime stays there.
        if (!finished && isNew()) go('setup');
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        // Its words are shown where it matters; here it only means: again.
        if (!stopped && entry.value.state === 'checking') timer = setTimeout(() => void ask(), RETRY_MS);
      }
    };
    void ask();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [held]);
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
