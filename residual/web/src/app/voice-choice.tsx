import type { JSX } from 'preact';
import { Field } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { chooseVoice, hasVoice, isBarred, VOICES, voice } from '../vehicle/voice.ts';

/** What is spoken, and why nothing may be heard. */
export function VoiceChoice(): JSX.Element {
  const text = t.alarm.voice;
  const hint = !hasVoice.value ? text.none : isBarred.value && voice.value !== 'off' ? text.silent : text.hint;
  return (
    <Field label={text.label} hint={hint}>
      {(ids) => (
        <select
          {...ids}
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
      )}
    </Field>
  );
}
