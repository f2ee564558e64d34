import { Gamepad2, UserRound, UserRoundCheck } from 'lucide';
import type { JSX } from 'preact';
import { denied } from '../../api/node.ts';
import { clock } from '../../parts/format.ts';
import { Button, ErrorNote, HoldButton, Icon } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { claim, iAmPilot, pilot, release } from '../../vehicle/pilot-in-command.ts';
import css from './ground.module.css';

/** A page like this one, whose id (api/credential.ts) says nothing to anybody. */
const PAGE = /^page-[0-9a-f]{12}$/;

/** Who flies. While somebody is pilot in command, others can only stop, land and return. */
export function Pilot(): JSX.Element {
  const act = useAct();
  const text = t.ground.pilot;
  const now = pilot.value;
  const mine = iAmPilot.value;
  const closed = denied('ground-station.pic.claim.post');
  const held = now?.claimed_by ?? null;
  const tone = mine ? 'mine' : held === null ? 'nobody' : 'other';
  const since = now?.claimed_at == null ? null : text.since({ time: clock(Date.parse(now.claimed_at)) });
  return (
    <section class={`card ${css['pilot']} ${tone}`} aria-labelledby="pilot">
      <span class={css['disc']}>
        <Icon of={mine ? UserRoundCheck : UserRound} />
      </span>
      <div class={css['who']}>
        <span class="hint">{text.title}</span>
        <h2 id="pilot" aria-live="polite">
          {now === null
            ? t.app.loading
            : mine
              ? text.you
              : held === null
                ? text.nobody
                : PAGE.test(held)
                  ? text.otherPage
                  : text.other({ id: held })}
        </h2>
        <p class="hint">
          {held === null
            ? text.nobodyHint
            : [since, now?.by == null ? null : text.by[now.by]].filter(Boolean).join(' · ')}
        </p>
        {mine ? <p class="hint">{text.hint}</p> : null}
        <ErrorNote error={act.error} />
      </div>
      {closed !== null ? (
        <p class="hint">{t.denied[closed]}</p>
      ) : mine ? (
        <Button busy={act.busy} onClick={() => void act.run(release)}>
          {text.release}
        </Button>
      ) : held === null ? (
        <Button
          kind="primary"
          icon={Gamepad2}
          busy={act.busy}
          why={now === null ? t.app.loading : null}
          onClick={() => void act.run(async () => claim(false))}
        >
          {text.claim}
        </Button>
      ) : (
        <HoldButton kind="danger" busy={act.busy} onConfirm={() => void act.run(async () => claim(true))}>
          {text.takeOver}
        </HoldButton>
      )}
    </section>
  );
}
