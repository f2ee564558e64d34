import { CircleCheckBig, LoaderCircle } from 'lucide';
import type { JSX } from 'preact';
import { wordFor } from '../../../language/words.ts';
import { ErrorNote, Icon, Note, Unfold } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../setup.module.css';
import type { StepProps } from '../status.ts';
import { SourceForm } from './source-form.tsx';

const LOOK_MS = 2000;
const BAUDS = [115_200, 921_600, 57_600] as const;

/** The flight controller is found by itself; here is the evidence, and the choice where it was not. */
export function FcStep({ reload }: StepProps): JSX.Element {
  const { data, error } = useAsk('status.get', {}, LOOK_MS);
  const ports = useAsk('mavlink.ports.get', {}, LOOK_MS * 2);
  const text = t.setup.fc;
  const options = [
    { value: 'auto', label: text.auto },
    ...(ports.data?.ports ?? []).flatMap(({ path, description, by_id: stable }) =>
      BAUDS.map((baud) => ({
        value: `serial:${stable ?? path}:${baud}`,
        label: text.port({ name: description === '' ? path : `${description} (${path})`, baud }),
      })),
    ),
    { value: 'sim', label: text.sim },
  ];
  const connected = data?.fc_connected === true;
  return (
    <>
      <ErrorNote error={error} />
      {data === null ? null : (
        <div class={`${css['found']} ${connected ? 'good' : ''}`} role="status">
          <Icon of={connected ? CircleCheckBig : LoaderCircle} />
          <div>
            <strong>
              {connected
                ? (wordFor(text.firmware, data.fc_firmware ?? '') ?? data.fc_firmware ?? text.found)
                : text.hint[data.fc_link_hint ?? 'no_heartbeat']}
            </strong>
            <span class="hint">
              {connected
                ? [data.fc_port ?? data.fc_source, data.fc_simulated === true ? text.simulated : null]
                    .filter(Boolean)
                    .join(' · ')
                : text.plug}
            </span>
          </div>
        </div>
      )}
      {(data?.link_problems ?? []).map(({ code, detail }) => (
        <Note key={code} tone="warn">
          {detail}
        </Note>
      ))}
      <Unfold title={text.choose}>
        {ports.data !== null && ports.data.ports.length === 0 ? <p class="hint">{text.noPorts}</p> : null}
        <SourceForm section="mavlink" name="source" label={text.source} options={options} onSaved={reload} />
      </Unfold>
    </>
  );
}
