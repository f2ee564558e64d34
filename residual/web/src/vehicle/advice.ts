import { type ArmTopic, armTopic } from '../../../../shared/flight/arm-advice.ts';
import type { Answer } from '../../../../shared/routes/typed-row.ts';
import { language } from '../language/language.ts';
import { t } from '../strings.ts';

type Section = readonly [tab: 'setup' | 'link' | 'parameters' | 'logs', section: string];
type Reason = NonNullable<Answer<'telemetry.get'>['prearm']>['reasons'][number];

interface Advice {
  readonly words: string;
  /** Where it is set; null: nowhere on this page. */
  readonly section: Section | null;
  /** A parameter that the vehicle names. */
  readonly param: string | null;
}

const SECTIONS: Readonly<Partial<Record<ArmTopic, Section>>> = {
  remoteId: ['link', 'remote-id'],
  stop: ['setup', 'radio'],
  compass: ['setup', 'sensors'],
  accelerometer: ['setup', 'sensors'],
  gyro: ['setup', 'sensors'],
  barometer: ['setup', 'sensors'],
  airspeed: ['setup', 'sensors'],
  level: ['setup', 'sensors'],
  throttle: ['setup', 'radio'],
  mode: ['setup', 'modes'],
  radio: ['setup', 'radio'],
  logging: ['logs', 'vehicle'],
  motors: ['setup', 'motors'],
  failsafe: ['setup', 'failsafes'],
};
const OR = new Intl.ListFormat(language, { type: 'disjunction' });
const PARAMETER = /\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b/;

/** What the node knows of the mode or the sticks is nearer than what the words of a check mean. */
export function adviceFor({ text, source, help }: Pick<Reason, 'text' | 'source' | 'help'>): Advice {
  const topic = armTopic(text, source);
  const modes = source === 'mode' ? (help?.commands ?? []).flatMap(({ args }) => args.map(String)) : [];
  const words = source === 'rc' ? help?.text : undefined;
  return {
    words:
      modes.length > 0
        ? `${t.fly.switchTo({ mode: OR.format(modes) })}.`
        : (words ?? t.vehicle.overview.advice[topic]),
    section: SECTIONS[topic] ?? null,
    param: PARAMETER.exec(text)?.[0] ?? null,
  };
}
