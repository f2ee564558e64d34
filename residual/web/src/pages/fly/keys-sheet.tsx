import type { JSX } from 'preact';
import { t } from '../../strings.ts';
import css from './dock.module.css';

/** Which key does what. */
export function KeysSheet(): JSX.Element {
  const { held, swap, help, holdKey } = t.fly.keys;
  const keys: readonly (readonly [string, string])[] = [
    ['M', swap],
    ['L', held({ name: t.fly.land })],
    ['R', held({ name: t.fly.rtl })],
    ['H', held({ name: t.fly.stop })],
    ['?', help],
  ];
  return (
    <>
      <dl class={css['keys']}>
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">{holdKey}</p>
    </>
  );
}
