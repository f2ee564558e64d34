import { signal } from '@preact/signals';
import { CircleAlert, OctagonAlert, TriangleAlert, X } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { relayed } from '../../api/relay.ts';
import { steady } from '../../api/steady.ts';
import { newest } from '../../api/telemetry.ts';
import { moment } from '../../parts/format.ts';
import { Button, Icon } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { readiness } from './commands.ts';
import css from './notices.module.css';

/** What the vehicle says in words. */
interface Message {
  readonly at?: string;
  readonly severity?: number;
  readonly text?: string;
}

const SHOWN = 50;
const PASSING_MS = 6000;
const MOST_STANDING = 3;
// MAV_SEVERITY.
const ERROR = 3;
const WARNING = 4;

/** Null: there is no telemetry yet. */
const all = steady<readonly Message[] | null>(() =>
  newest.value === null ? null : (newest.value.statustext ?? []),
);

/** What came while the page was open and is still to be seen, the newest last. */
const standing = signal<readonly (Message & { readonly count: number })[]>([]);

const keyOf = ({ at, text }: Message): string => `${at ?? ''} ${text ?? ''}`;
const isWarning = ({ severity = 6 }: Message): boolean => severity <= WARNING;
/** What speaks against arming stands on a card of its own. */
const isOfArming = ({ text = '' }: Message): boolean => /^(?:PreArm|Arm): /.test(text);

/** Who it is: the firmware with its hash, the frame; nobody needs that in flight. */
const isBanner = ({ severity = 6, text = '' }: Message): boolean =>
  severity > WARNING &&
  (/\([0-9a-f]{7,}\)|^[0-9a-f]{8}\b/i.test(text) || /^(?:Frame|RCOut|ChibiOS|NuttX|PX4)\b/.test(text));

function tone({ severity = 6 }: Message): 'bad' | 'warn' | '' {
  if (severity <= ERROR) return 'bad';
  return severity === WARNING ? 'warn' : '';
}

/** Lets what is new come, and what only tells something go again; follows the vehicle while it is shown. */
function useArriving(): void {
  const known = useRef<{ readonly keys: Set<string>; readonly of: unknown } | null>(null);
  const list = all.value;
  const of = relayed.value;
  useEffect(() => {
    const before = known.current;
    if (list === null) return;
    // What was said before the page looked is not news.
    if (before === null || before.of !== of) {
      known.current = { keys: new Set(list.map(keyOf)), of };
      standing.value = [];
      return;
    }
    const fresh = list.filter((message) => !before.keys.has(keyOf(message)));
    if (fresh.length === 0) return;
    known.current = { keys: new Set(list.map(keyOf)), of };
    for (const message of fresh) {
      if (isBanner(message) || (isOfArming(message) && readiness.peek()?.canArm === false)) continue;
      const same = standing.peek().find(({ text }) => text === message.text);
      standing.value = [
        ...standing.peek().filter((each) => each !== same),
        { ...message, count: (same?.count ?? 0) + 1 },
      ];
      if (!isWarning(message)) setTimeout(() => dismiss(message), PASSING_MS);
    }
  }, [list, of]);
}

function dismiss(message: Message): void {
  standing.value = standing.peek().filter((each) => keyOf(each) !== keyOf(message));
}

/** New messages over the picture: what tells goes by itself, what warns stays until it is tapped away. */
export function MessageStack({ onAll }: { readonly onAll: () => void }): JSX.Element {
  useArriving();
  const shown = standing.value.slice(-MOST_STANDING);
  const more = standing.value.length - shown.length;
  return (
    <div class={css['stack']} role="log" aria-label={t.fly.messagesNew}>
      {more === 0 ? null : (
        <button type="button" class={css['more']} onClick={onAll}>
          {t.fly.moreMessages({ count: more })}
        </button>
      )}
      {shown.map((message) => (
        <div key={keyOf(message)} class={`${css['message']} ${tone(message)}`}>
          <Icon of={iconOf(message)} />
          <p>
            {message.text}
            {message.count > 1 ? <small> × {message.count}</small> : null}
          </p>
          {isWarning(message) ? (
            <Button
              kind="quiet"
              icon={X}
              aria-label={t.fly.dismiss({ text: message.text ?? '' })}
              onClick={() => dismiss(message)}
            />
          ) : null}
        </div>
      ))}
    </div>
  );
}

function iconOf(message: Message): typeof CircleAlert {
  return { bad: OctagonAlert, warn: TriangleAlert, '': CircleAlert }[tone(message)];
}

/** How many of what is to be seen warns. */
export const warnings = steady(() => standing.value.filter(isWarning).length);

/** All that it said, the newest first. */
export function MessageList(): JSX.Element {
  const messages = (all.value ?? []).toReversed().slice(0, SHOWN);
  return (
    <>
      {messages.length === 0 ? <p class="hint">{t.fly.noMessages}</p> : null}
      {/* A person without a mouse scrolls it, too. */}
      <div class={css['messages']} role="log" aria-label={t.fly.messages} tabIndex={0}>
        <ul>
          {messages.map((message) => (
            <li key={keyOf(message)} class={tone(message)}>
              <strong>{t.fly.severity[message.severity ?? 6] ?? ''}</strong> {message.text}{' '}
              <small>{moment(message.at)}</small>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
