import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { ParamValues } from '../../../../../../shared/flight/param-file.ts';
import { shownFloat } from '../../../../../../shared/flight/shown-float.ts';
import { isReservedParam } from '../../../../../../shared/mavlink/param-classes.ts';
import { Button, Card, Note } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { isSame, type Param } from '../../../vehicle/param.ts';
import { staged } from './staged-values.ts';

export interface ParamFile {
  /** Of the file. */
  readonly name: string;
  readonly values: ParamValues;
}

/** What differs between a file and the vehicle; what is chosen is staged. */
export function Compare({
  file,
  params,
  onClose,
}: {
  file: ParamFile;
  params: readonly Param[];
  onClose: () => void;
}): JSX.Element {
  const { differing, strange, reserved } = useMemo(() => {
    const held = new Map(params.map((param) => [param.name, param.value]));
    const all = Object.entries(file.values).map(([name, value]) => ({ name, value, now: held.get(name) }));
    const changed = all.flatMap(({ name, value, now }) =>
      now === undefined || isSame(now, value) ? [] : [{ name, value, now }],
    );
    return {
      differing: changed.filter(({ name }) => !isReservedParam(name)),
      reserved: changed.filter(({ name }) => isReservedParam(name)).map(({ name }) => name),
      strange: all.flatMap(({ name, now }) => (now === undefined ? [name] : [])),
    };
  }, [file, params]);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = differing.filter(({ name }) => !left.has(name));
  const choose = (name: string, isChosen: boolean): void => {
    const next = new Set(left);
    if (isChosen) next.delete(name);
    else next.add(name);
    setLeft(next);
  };
  const take = (): void => {
    staged.value = new Map([
      ...staged.value,
      ...chosen.map(({ name, value }): [string, number] => [name, value]),
    ]);
    onClose();
  };
  return (
    <Card wide title={t.vehicle.params.compareTitle({ name: file.name })}>
      <p role="status">
        {t.vehicle.params.compared({ count: Object.keys(file.values).length, differing: differing.length })}
      </p>
      {strange.length === 0 ? null : (
        <Note tone="warn">
          {t.vehicle.params.strange({ count: strange.length, names: strange.slice(0, 10).join(', ') })}
        </Note>
      )}
      {reserved.length === 0 ? null : (
        <Note tone="warn">{t.vehicle.params.reserved({ names: reserved.join(', ') })}</Note>
      )}
      {differing.length === 0 ? null : (
        <div
          class="scroll"
          tabIndex={0}
          role="region"
          aria-label={t.vehicle.params.compareTitle({ name: file.name })}
        >
          <table>
            <thead>
              <tr>
                <th>{t.vehicle.params.take}</th>
                <th class="number">{t.vehicle.params.now}</th>
                <th class="number">{t.vehicle.params.inFile}</th>
              </tr>
            </thead>
            <tbody>
              {differing.map(({ name, value, now }) => (
                <tr key={name}>
                  <td>
                    <label class="check">
                      <input
                        type="checkbox"
                        checked={!left.has(name)}
                        onChange={(event) => choose(name, event.currentTarget.checked)}
                      />{' '}
                      {name}
                    </label>
                  </td>
                  <td class="number">{shownFloat(now)}</td>
                  <td class="number">{shownFloat(value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="row">
        {differing.length === 0 ? null : (
          <>
            <Button kind="primary" onClick={take} why={chosen.length === 0 ? '' : null}>
              {t.vehicle.params.takeOver({ count: chosen.length })}
            </Button>
            <Button onClick={() => setLeft(new Set(differing.map(({ name }) => name)))}>
              {t.vehicle.params.none}
            </Button>
          </>
        )}
        <Button onClick={onClose}>{t.app.close}</Button>
      </div>
    </Card>
  );
}
