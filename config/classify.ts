import { isCertificateChange, isRotation, isTemplateChange } from "./changes";
import { diffSpecs } from "./diff";
import { ConfigError } from "./problems";
import { refusals } from "./refusals";
import type { Alias, EtcdSpec, FieldChange, Operation, OperationKind } from "./types";

/**
 * What has to be done to come from one spec to the next; `old` is undefined where there is no cluster yet.
 *
 * Throws `ConfigError` for what cannot be done to a running cluster, or not in one update.
 */
export function classify(old: EtcdSpec | undefined, next: EtcdSpec): Operation {
  if (!old) return operation("create", [], aliasesOf(next));
  const changes = diffSpecs(old, next);
  const problems = refusals(old, next, changes);
  if (problems.length > 0) throw new ConfigError(problems);
  const kind = kindOf(old, next, changes);
  return operation(kind, changes, kind === "reissue" ? reissued(next, changes) : allIn(kind, next));
}

function operation(kind: OperationKind, changes: FieldChange[], aliases: Alias[]): Operation {
  return {
    kind,
    changes,
    aliases,
    issuerChanged: kind === "reissue" && changes.some(({ path }) => /^tls\.certificates\[.*\]\.issuerRef\./.test(path)),
    templateChanged: changes.some(isTemplateChange),
  };
}

function kindOf(old: EtcdSpec, next: EtcdSpec, changes: FieldChange[]): OperationKind {
  if (!old.tls && next.tls) return "add";
  if (old.tls && !next.tls) return "remove";
  if (isRotation(old, next)) return "rotate";
  if (changes.some(isCertificateChange)) return "reissue";
  return changes.some(isTemplateChange) ? "template" : "none";
}

function allIn(kind: OperationKind, next: EtcdSpec): Alias[] {
  return kind === "add" || kind === "rotate" ? aliasesOf(next) : [];
}

function aliasesOf(spec: EtcdSpec): Alias[] {
  return (spec.tls?.certificates ?? []).map(({ alias }) => alias);
}

function reissued(next: EtcdSpec, changes: FieldChange[]): Alias[] {
  return aliasesOf(next).filter((alias) => changes.some(({ path }) => path.startsWith(`tls.certificates[${alias}]`)));
}
