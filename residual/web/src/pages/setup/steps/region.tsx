import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { language } from '../../../language/language.ts';
import { ErrorNote, Field } from '../../../parts/parts.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import type { StepProps } from '../status.ts';
import { setConfig, useConfig } from '../use-config.ts';
import { Primary } from './primary.tsx';

/** ISO 3166-1 alpha-2, as far as there are regulatory rules for it in Linux (wireless-regdb). */
const CODES =
  'AD AE AF AI AL AM AN AR AS AT AU AW AZ BA BB BD BE BF BG BH BL BM BN BO BR BS BT BY BZ CA CF CH CI CL CN CO CR CU CX CY CZ DE DK DM DO DZ EC EE EG ES ET FI FM FR GB GD GE GF GH GL GP GR GT GU GY HK HN HR HT HU ID IE IL IN IR IS IT JM JO JP KE KH KN KP KR KW KY KZ LB LC LI LK LS LT LU LV MA MC MD ME MF MH MK MN MO MP MQ MR MT MU MV MW MX MY NG NI NL NO NP NZ OM PA PE PF PG PH PK PL PM PR PT PW PY QA RE RO RS RU RW SA SE SG SI SK SN SR SV SY TC TD TG TH TN TR TT TW TZ UA UG US UY UZ VC VE VI VN VU WF WS YE YT ZA ZW'.split(
    ' ',
  );

export function RegionStep({ complete }: StepProps): JSX.Element {
  const stored = useConfig('radio', 'region');
  const [draft, setDraft] = useState<string | null>(null);
  const { busy, error, run } = useAct();
  const names = new Intl.DisplayNames(language, { type: 'region' });
  const now = draft ?? (typeof stored === 'string' ? stored : '00');
  const sorted = CODES.map((code) => ({ code, name: names.of(code) ?? code })).toSorted((a, b) =>
    a.name.localeCompare(b.name, language),
  );
  return (
    <>
      <Field label={t.setup.region.label} hint={t.setup.region.hint}>
        {(ids) => (
          <select {...ids} value={now} onChange={(event) => setDraft(event.currentTarget.value)}>
            {[{ code: '00', name: t.setup.region.world }, ...sorted].map(({ code, name }) => (
              <option key={code} value={code} selected={code === now}>
                {name} ({code})
              </option>
            ))}
          </select>
        )}
      </Field>
      <ErrorNote error={error} />
      <Primary
        busy={busy}
        row="config.put"
        onClick={() =>
          void run(async () => {
            if (now !== stored) await setConfig('radio.region', now);
            await complete();
          })
        }
      >
        {t.setup.next}
      </Primary>
    </>
  );
}
