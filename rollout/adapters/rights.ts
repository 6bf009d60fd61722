import type { Right } from "../ports";
import type { ApiClient } from "./api-client";

interface ResourceRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
}

/**
 * Those of the rights that the user of the kubeconfig context lacks.
 *
 * What the user may do in a namespace is one question. Its answer may be incomplete (an authorizer other than RBAC
 * decides), so that what it does not name is asked for one by one. Both questions are everybody's to ask
 * (`system:basic-user`).
 *
 * @throws KubeError
 */
export async function missingRights(api: ApiClient, rights: Right[]): Promise<Right[]> {
  const namespaces = [...new Set(rights.flatMap(({ namespace }) => namespace ?? []))];
  const known = new Map<string, ResourceRule[]>();
  for (const namespace of namespaces) known.set(namespace, await rulesIn(api, namespace));
  const unsure = rights.filter((right) => !covers(known.get(right.namespace ?? "") ?? [], right));
  const allowed = await Promise.all(unsure.map((right) => isAllowed(api, right)));
  return unsure.filter((_, i) => !allowed[i]);
}

async function rulesIn(api: ApiClient, namespace: string): Promise<ResourceRule[]> {
  const kind = "SelfSubjectRulesReview";
  const answer = await api.request<{ status?: { resourceRules?: ResourceRule[] } }>({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    body: { apiVersion: "authorization.k8s.io/v1", kind, spec: { namespace } },
    verb: "create",
    object: `${kind} for ${namespace}`,
  });
  return answer.status?.resourceRules ?? [];
}

async function isAllowed(api: ApiClient, { group, resource, verb, namespace }: Right): Promise<boolean> {
  const kind = "SelfSubjectAccessReview";
  const [name, subresource] = resource.split("/");
  const resourceAttributes = { group, resource: name, subresource, verb, namespace };
  const answer = await api.request<{ status?: { allowed?: boolean } }>({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: { apiVersion: "authorization.k8s.io/v1", kind, spec: { resourceAttributes } },
    verb: "create",
    object: `${kind} for ${verb} ${resource}`,
  });
  return answer.status?.allowed === true;
}

/** Rules for single names are no rule for all. */
function covers(rules: ResourceRule[], { group, resource, verb }: Right): boolean {
  const has = (list: string[] | undefined, wanted: string) => list?.includes("*") || list?.includes(wanted);
  return rules.some(
    (rule) =>
      !rule.resourceNames?.length &&
      has(rule.apiGroups, group) &&
      has(rule.resources, resource) &&
      has(rule.verbs, verb),
  );
}
