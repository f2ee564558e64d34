import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { shownFloat } from '../../../../../../shared/flight/shown-float.ts';
import { call, Refused } from '../../../api/client.ts';
import { Badge, ErrorNote, HoldButton, Note } from '../../../parts/parts.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { isSame } from '../../../vehicle/param.ts';
import { RebootAutopilot } from './reboot.tsx';

/** One parameter that was written. */
export interface WrittenParam {
  readonly name: string;
  /** Asked for. */
  readonly value: number;
  /** What the vehicle reported then. */
  readonly cached_value: number | null;
  readonly reboot_required?: boolean | null;
}

/**
 * Writes several parameters.
 * @param force over the armed guard and the documented ranges
 * @param done gets what was written, also where the node then refuses
 * @param confirm the names once more of those that make the vehicle another one
 * @throws Refused
 */
export async function writeParams(
  values: Iterable<readonly [string, number]>,
  force: boolean,
  done: (results: readonly WrittenParam[]) => void,
  confirm: readonly string[] = [],
): Promise<void> {
  try {
    const body = {
      params: Object.fromEntries(values),
      ...(force ? { force: true } : {}),
      ...(confirm.length === 0 ? {} : { confirm: [...confirm] }),
    };
    done((await call('params.put', { body })).results);
  } catch (failed) {
    const results = failed instanceof Refused ? failed.extras['results'] : null;
    if (Array.isArray(results)) done(results);
    throw failed;
  }
}

/** A button that writes these values when it is held, and what became of them. */
export function HeldWrite({
  values,
  why,
  onWritten,
}: {
  readonly values: ReadonlyMap<string, number>;
  /** Why not now; null: it can be done. */
  readonly why: string | null;
  readonly onWritten: () => void;
}): JSX.Element {
  const { busy, error, run } = useAct();
  const [written, setWritten] = useState<readonly WrittenParam[]>([]);
  const write = async (): Promise<void> =>
    writeParams(values, false, (results) => {
      setWritten(results);
      onWritten();
    });
  return (
    <>
      <ErrorNote error={error} />
      {written.length === 0 ? null : <WrittenList written={written} />}
      {values.size === 0 ? null : (
        <HoldButton row="params.put" busy={busy} why={why} onConfirm={() => void run(write)}>
          {t.vehicle.params.write({ count: values.size })}
        </HoldButton>
      )}
    </>
  );
}

export function WrittenList({ written }: { readonly written: readonly WrittenParam[] }): JSX.Element {
  const [isBack, setBack] = useState(false);
  const reboot = isBack ? [] : written.filter((each) => each.reboot_required === true);
  return (
    <Note tone="good">
      <p>{t.vehicle.params.written({ count: written.length })}</p>
      <ul>
        {written.map(({ name, value, cached_value: held }) => (
          <li key={name}>
            {name} {held === null ? t.app.none : shownFloat(held)}
            {held !== null && isSame(held, value) ? null : (
              <Badge tone="warn">{t.vehicle.params.insteadOf({ value: shownFloat(value) })}</Badge>
            )}
          </li>
        ))}
      </ul>
      {reboot.length === 0 ? null : (
        <p>{t.vehicle.params.rebootFor({ names: reboot.map(({ name }) => name).join(', ') })}</p>
      )}
      {written.some((each) => each.reboot_required === true) ? (
        <RebootAutopilot onBack={() => setBack(true)} />
      ) : null}
    </Note>
  );
}
