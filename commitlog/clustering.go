package commitlog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicedata/sluice/schema"
)

// clusteringDomain is the domain that says by which columns a table is clustered ("Clustered Table").
const clusteringDomain = "delta.clustering"

// clustering is by which columns a table is clustered, each a path of names from the table's column down.
type clustering struct {
	columns [][]string
	err     error // what is wrong with the domain
}

// clusteringConfiguration is the domain's content. Names are those that files know the columns by.
type clusteringConfiguration struct {
	ClusteringColumns [][]string `json:"clusteringColumns"`
	DomainName        string     `json:"domainName"` // as Spark writes it
}

// ClusteringColumns are the columns that the table is clustered by, each a path of names from the table's column down; none if it is not
// clustered. The error is that of a domain which cannot be read, or names columns that the table does not have.
func (h *Head) ClusteringColumns() ([][]string, error) { return h.clustering.columns, h.clustering.err }

// ClusteringColumns are those of the version: see Head.ClusteringColumns.
func (s *State) ClusteringColumns() ([][]string, error) {
	return s.clustering.columns, s.clustering.err
}

func clusteringOf(p Protocol, m Metadata, t *schema.Type, domains map[string]DomainMetadata) (c clustering) {
	d, set := domains[clusteringDomain]
	if !set || !p.Supports(featureClustering) {
		return c
	}
	var configuration clusteringConfiguration
	if err := json.Unmarshal([]byte(d.Configuration), &configuration); err != nil {
		c.err = fmt.Errorf("domain %s is %s: %w", clusteringDomain, d.Configuration, err)
		return c
	}
	for _, stored := range configuration.ClusteringColumns {
		path := logicalPath(t, stored)
		if path == nil {
			return clustering{err: fmt.Errorf("domain %s names the column %q, which the table does not have", clusteringDomain, stored)}
		}
		c.columns = append(c.columns, path)
	}
	if len(c.columns) > 0 && len(m.PartitionColumns) > 0 {
		c.err = fmt.Errorf("it is clustered by %s, and partitioned by %s as well", strings.Join(DottedPaths(c.columns), ", "), strings.Join(m.PartitionColumns, ", "))
	}
	return c
}

// setsClustering tells whether the commit may change by which columns the table is clustered.
func (c *Commit) setsClustering() bool {
	return slices.ContainsFunc(c.Domains, func(d DomainMetadata) bool { return d.Domain == clusteringDomain })
}

// logicalPath is the path of a column as the schema has it; nil for one that is not there.
func logicalPath(t *schema.Type, stored []string) (path []string) {
	for _, name := range stored {
		if t.Kind != schema.Struct {
			return nil
		}
		at := slices.IndexFunc(t.Fields, func(f schema.Field) bool { return f.StoredName() == name })
		if at < 0 {
			return nil
		}
		path, t = append(path, t.Fields[at].Name), t.Fields[at].Type
	}
	return path
}

// ClusterBy is the action that has a table with such a schema clustered by columns of it, or by none. The table needs
// ClusteringFeatures.
func ClusterBy(t *schema.Type, columns [][]string) DomainMetadata {
	configuration := clusteringConfiguration{ClusteringColumns: [][]string{}, DomainName: clusteringDomain}
	for _, path := range columns {
		var stored []string
		for in := t; len(stored) < len(path); {
			f := &in.Fields[in.Index(path[len(stored)])]
			stored, in = append(stored, f.StoredName()), f.Type
		}
		configuration.ClusteringColumns = append(configuration.ClusteringColumns, stored)
	}
	text, _ := marshal(configuration) // strings alone: it cannot fail
	return DomainMetadata{Domain: clusteringDomain, Configuration: string(text)}
}

// ClusteringFeatures are the table features of a clustered table.
func ClusteringFeatures() []string { return []string{featureClustering, featureDomainMetadata} }

// DottedPaths are paths with a dot between their names.
func DottedPaths(paths [][]string) []string {
	var dotted []string
	for _, path := range paths {
		dotted = append(dotted, strings.Join(path, "."))
	}
	return dotted
}
