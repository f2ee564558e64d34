import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../strings.ts';
import { chooseVoice, hasVoice, isBarred, VOICES, voice } from './voice.ts';

/** What is spoken, and why nothing may be heard. */
export function VoiceChoice(): JSX.Element {
  const hint = useId();
  const text = t.alarm.voice;
  return (
    <div>
      <label class="field">
        {text.label}
        <select
          aria-describedby={hint}
          value={voice.value}
          onChange={({ currentTarget: { value } }) =>
            chooseVoice(VOICES.find((name) => name === value) ?? voice.peek())
          }
        >
          {VOICES.map((name) => (
            <option key={name} value={name}>
              {text[name]}
            </option>
          ))}
        </select>
      </label>
      <p class="hint" id={hint}>
        {!hasVoice.value ? text.none : isBarred.value && voice.value !== 'off' ? text.silent : text.hint}
      </p>
    </div>
  );
}
