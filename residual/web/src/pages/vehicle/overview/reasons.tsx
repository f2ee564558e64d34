import { ArrowRight, RefreshCw, TriangleAlert } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../../api/client.ts';
import { fresh } from '../../../api/telemetry.ts';
import { hrefOf } from '../../../app/route.ts';
import { wordFor } from '../../../language/words.ts';
import { Button, Card, ErrorNote, Icon } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { adviceFor } from '../../../vehicle/advice.ts';
import { sectionHref } from '../../../vehicle/section.ts';
import css from './condition.module.css';

const text = t.vehicle.overview;

/** Why it does not arm: what the vehicle says, what that means, and the way to what takes it away. */
export function Reasons(): JSX.Element | null {
  const prearm = fresh('heartbeat', (now) => (now.armed === true ? null : now.prearm));
  const act = useAct();
  const reasons = prearm?.reasons ?? [];
  if (reasons.length === 0) return null;
  const switchTo = (mode: readonly string[]): void =>
    void act.run(async () => {
      const { status, ack } = await call('command.post', { body: { cmd: 'mode', args: [...mode] } });
      if (status === 'accepted') say(text.switched({ mode: mode.join(' ') }), 'good');
      else say(ack.statustext ?? ack.result_name ?? text.refused, 'bad');
    });
  return (
    <Card title={text.reasons({ count: reasons.length })} icon={TriangleAlert} wide>
      <ErrorNote error={act.error} />
      <ul class={css['reasons']} aria-label={text.reasons({ count: reasons.length })}>
        {reasons.map((reason) => {
          const { text: said, help } = reason;
          const advice = adviceFor(reason);
          return (
            <li key={said}>
              <Icon of={TriangleAlert} />
              <div>
                <strong>{said}</strong>
                <p>{advice.words}</p>
              </div>
              <div class="row">
                {(help?.commands ?? []).slice(0, 2).map(({ args }) => (
                  <Button
                    key={args.join(' ')}
                    row="command.post"
                    icon={RefreshCw}
                    busy={act.busy}
                    onClick={() => switchTo(args)}
                  >
                    {t.fly.switchTo({ mode: args.join(' ') })}
                  </Button>
                ))}
                {advice.param !== null ? (
                  <a class="button plain" href={hrefOf('vehicle', 'parameters', advice.param)}>
                    {advice.param} <Icon of={ArrowRight} />
                  </a>
                ) : advice.section === null ? null : (
                  <a class="button plain" href={sectionHref(...advice.section)}>
                    {wordFor(text.fix, advice.section[1]) ?? text.look} <Icon of={ArrowRight} />
                  </a>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
